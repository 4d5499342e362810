#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "backends/cpu/simd/rows/lookup.h"
#include "backends/cpu/simd/table.h"
#include "backends/plan/plan.h"
#include "graph/row_table.h"

namespace fuselage::cpu {

class Team;          // team.h
class WeightRegion;  // weight_region.h

/// What a kernel finds when it runs. Pointers stay good for a whole step or iteration.
struct Run {
  const KernelTable& kernels;
  const RowTable& rows;
  const std::vector<Buffer>& plan_buffers;
  const std::vector<std::byte*>& buffers;           ///< by number of the buffer
  const std::vector<const std::int32_t*>& indexes;  ///< by number of the slot
  Team* team = nullptr;                             ///< who takes part; nullptr: nobody else
};

/// What a kernel may look at when it is bound to a node. Graph and plan outlive the kernel.
struct Binding {
  const Graph& graph;
  const Node& node;
  const ProgramPlan& plan;
  WeightRegion& weights;
  /// By operand: the kernel asks for a form of its own of that weight (weight_operands.h).
  std::vector<bool>& has_own_form;
};

/// A kernel bound to a node of a plan: what it has read of the attributes, and its matrices.
/// Immutable; workers share it.
class Kernel {
 public:
  virtual ~Kernel() = default;

  /// Computes the results for the rows of the instruction's domain (operands.h). Allocates nothing.
  virtual void run(const PlannedInstruction& in, const Run& run) const = 0;

  /// Look-ups in a table of frequent rows that all workers have made; nothing without a table.
  virtual std::optional<LookupCount> lookups() const { return std::nullopt; }
};

/// A kernel as the registry lists it: for which nodes it is, and how it is bound to one.
struct KernelEntry : KernelInfo {
  std::unique_ptr<Kernel> (*make)(const PlannedInstruction& in, const Binding& binding) = nullptr;
};

}  // namespace fuselage::cpu
