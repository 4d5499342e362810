#pragma once

#include <memory>
#include <vector>

#include "backends/cpu/weights/weight_region.h"
#include "fuselage/backends/cpu/runtime/kernel.h"

namespace fuselage::cpu {

/// A planned program with bound kernels; runnable once its weights are made. Immutable.
struct Program {
  ProgramPlan plan;
  /// The kernel of each instruction of the plan; null for a view.
  std::vector<std::unique_ptr<const Kernel>> kernels;
  /// The tensor of each weight buffer of the plan; null if all its readers use forms of their own.
  std::vector<std::shared_ptr<const Tensor>> weights;
};

/// Plans `graph` with `kernels`, all of type KernelEntry, and binds them. They request parameters
/// and results of the load program from `weights`, in execution order. `weights` and the entries
/// must outlive the program.
std::unique_ptr<Program> make_program(Graph graph, WeightRegion& weights, const KernelSet& kernels);

}  // namespace fuselage::cpu
