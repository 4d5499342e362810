#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backends/cpu/kernels/kernel_table.h"
#include "backends/cpu/runtime/instruction.h"
#include "backends/cpu/weights/weight_region.h"

namespace fuselage::cpu {

/// A program, ready to run when its weights are made. Immutable once made.
struct Program {
  ProgramPlan plan;
  std::vector<Instruction> instructions;  ///< those of the plan, each bound to its kernel
  /// The numbers of each weight buffer of the plan; null where no instruction reads them as they
  /// are.
  std::vector<std::shared_ptr<const Tensor>> weights;
};

/// Plans `graph`, and asks `weights` for its parameters and for what it imports of the load
/// program, in the order in which instructions read them. `first` are kernels that stand before
/// those of kernel_rows(); both must outlive the program.
std::unique_ptr<Program> make_program(Graph graph, WeightRegion& weights,
                                      std::span<const KernelRow> first = {});

}  // namespace fuselage::cpu
