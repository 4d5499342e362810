#pragma once

#include <memory>
#include <span>

#include "backends/cpu/runtime/instruction.h"

namespace fuselage::cpu {

class WeightRegion;  // weight_region.h

/// What a kernel may look at when it is bound to a node.
struct Binding {
  const Graph& graph;
  const Node& node;
  const ProgramPlan& plan;
  WeightRegion& weights;
};

/// An operand that is a stored matrix, packed. The instruction reads it in this form alone.
std::shared_ptr<const PackedMatrix> packed_operand(Instruction& in, const Binding& binding,
                                                   std::size_t operand, const MatrixShape& shape);

/// One line of the table: a kernel that can run an op.
struct KernelRow : KernelInfo {
  /// Reads attributes and packs weights.
  void (*bind)(Instruction&, const Binding&) = nullptr;
  void (*run)(const Instruction&, const Run&) = nullptr;
};

/// The back-end's kernels: the best first, the reference evaluation last.
std::span<const KernelRow> kernel_rows();

/// Those that a plan chooses from: `first`, then the back-end's own.
KernelSet kernel_set(std::span<const KernelRow> first = {});

}  // namespace fuselage::cpu
