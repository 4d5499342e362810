#pragma once

#include <memory>
#include <vector>

#include "backends/cpu/runtime/kernel.h"
#include "backends/cpu/weights/weight_region.h"

namespace fuselage::cpu {

/// A program, ready to run when its weights are made. Immutable once made.
struct Program {
  ProgramPlan plan;
  /// The kernel of each instruction of the plan; null for a view.
  std::vector<std::unique_ptr<const Kernel>> kernels;
  /// The numbers of each weight buffer of the plan; null where no instruction reads them as they
  /// are.
  std::vector<std::shared_ptr<const Tensor>> weights;
};

/// Plans `graph` with kernels of a set whose members are all of type KernelEntry, and binds them.
/// They ask `weights` for the parameters and the results of the load program that they read, in the
/// order in which instructions run. The weights and the kernels' entries must outlive the program.
std::unique_ptr<Program> make_program(Graph graph, WeightRegion& weights, const KernelSet& kernels);

}  // namespace fuselage::cpu
