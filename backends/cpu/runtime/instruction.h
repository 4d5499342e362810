#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/cpu/kernels/elementwise_tiles.h"
#include "backends/cpu/simd/gemm/packed_matrix.h"
#include "backends/cpu/simd/table.h"
#include "backends/cpu/weights/pack.h"
#include "backends/plan/plan.h"
#include "base/quantized.h"
#include "graph/graph.h"
#include "graph/row_table.h"

namespace fuselage::cpu {

class Team;             // team.h
struct EnsembleLayers;  // ensemble_kernel.cpp
struct ShortlistLayer;  // shortlist_kernel.cpp

/// Look-ups in a table of frequent rows, counted by all workers.
struct LookupCounter {
  std::atomic<std::uint64_t> lookups{0}, hits{0};
};

/// What an instruction finds at run time. Pointers stay good for a whole step or iteration.
struct Run {
  const KernelTable& kernels;
  const RowTable& rows;
  const std::vector<Buffer>& plan_buffers;
  const std::vector<std::byte*>& buffers;           ///< by number of the buffer
  const std::vector<const std::int32_t*>& indexes;  ///< by number of the slot
  Team* team = nullptr;                             ///< who takes part; nullptr: nobody else
};

/// A result of an instruction that is the quantized vectors of another.
struct QuantizedResult {
  std::size_t of = 0, at = 0;  ///< numbers of results
  std::size_t vectors = 1;     ///< in a row
  bool vectorized = true;      ///< there is a vector kernel for its quantizer
};

/// A node as planned, and what its kernel needs of it, read once.
struct Instruction : PlannedInstruction {
  explicit Instruction(PlannedInstruction planned, const Graph& program)
      : PlannedInstruction(std::move(planned)), graph(&program) {}

  void (*run)(const Instruction&, const Run&) = nullptr;  ///< nullptr: a view, nothing to do
  std::vector<bool> has_own_form;  ///< by operand: its kernel has another form of the weight
  const Graph* graph;
  std::shared_ptr<const PackedMatrix> matrix;
  MatrixShape shape;  ///< of a matrix that is packed when the node runs
  std::shared_ptr<const ElementKernel> elements;
  std::shared_ptr<const EnsembleLayers> ensemble;
  std::shared_ptr<const ShortlistLayer> shortlist;
  Binary binary = Binary::add;
  Unary unary = Unary::neg;
  MapId map;
  std::int64_t integer = 0;
  double real = 0;
  Quantizer quantizer;
  std::vector<QuantizedResult> quantized;
  std::int64_t vectors = 1;  ///< in a row, each of which a product takes for itself
  std::shared_ptr<LookupCounter> counter;
  std::shared_ptr<void> other;  ///< of a kernel that is not the back-end's own
};

}  // namespace fuselage::cpu
