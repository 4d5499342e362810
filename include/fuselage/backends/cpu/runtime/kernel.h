#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fuselage/backends/cpu/simd/rows/lookup_count.h"
#include "fuselage/backends/plan/plan.h"
#include "fuselage/base/api.h"
#include "fuselage/graph/row_table.h"

namespace FUSELAGE_API fuselage {
namespace cpu {

struct KernelTable;  // simd/table.h
class Team;          // runtime/team.h
class WeightRegion;  // weights/weight_region.h

/// What a kernel makes of sentences when they begin, for all runs with them. Each worker has its
/// own.
class BatchState {
 public:
  virtual ~BatchState() = default;
};

/// The context in which a kernel runs. Pointers are valid for a whole step or iteration.
struct Run {
  const KernelTable& kernels;
  const RowTable& rows;
  const std::vector<Buffer>& plan_buffers;
  const std::vector<std::byte*>& buffers;           ///< by buffer number
  const std::vector<const std::int32_t*>& indexes;  ///< by index slot
  Team* team = nullptr;                             ///< threads; nullptr: only the caller
  BatchState* state = nullptr;                      ///< of the kernel that runs
};

/// The context in which a kernel is bound to a node. Graph and plan outlive the kernel.
struct Binding {
  const Graph& graph;
  const Node& node;
  const ProgramPlan& plan;
  WeightRegion& weights;
  /// By operand: whether the kernel requested its own form of that weight (weight_operands.h).
  std::vector<bool>& has_own_form;
};

/// A kernel bound to a node of a plan, with the attributes and matrices that it needs. Immutable;
/// shared by workers.
class Kernel {
 public:
  virtual ~Kernel() = default;

  /// A worker's state of this kernel; nullptr: it has none.
  virtual std::unique_ptr<BatchState> make_state() const { return nullptr; }

  /// Empties `run.state` before the first sentences. May allocate.
  virtual void begin_batch(const PlannedInstruction&, const Run&) const {}
  /// Adds to `run.state` what runs need of sentences, before their first run: all sentences of a
  /// batch, or some that come while others are under way, in places of sentences that went. Only
  /// the rows of sentences, and of what belongs to them, are known. May allocate.
  virtual void add_sentences(const PlannedInstruction&, const Run&,
                             std::span<const std::int32_t>) const {}
  /// Whether a kernel with a state can add sentences while others are under way.
  virtual bool takes_more_sentences() const { return false; }

  /// Computes the results for the rows of the instruction's domain (operands.h). Allocates nothing.
  virtual void run(const PlannedInstruction& in, const Run& run) const = 0;

  /// Look-ups of all workers in the kernel's table of frequent rows; nullopt without a table.
  virtual std::optional<LookupCount> lookups() const { return std::nullopt; }
};

/// A registry entry: the nodes that a kernel can run, and the function that binds it to one.
struct KernelEntry : KernelInfo {
  std::unique_ptr<Kernel> (*make)(const PlannedInstruction& in, const Binding& binding) = nullptr;
};

}  // namespace cpu
}  // namespace fuselage
