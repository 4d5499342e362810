#pragma once

#include <memory>
#include <span>
#include <string>

#include "backends/cpu/kernels/kernel_registry.h"
#include "backends/executable.h"
#include "passes/lowering/split_by_binding_time.h"

namespace fuselage {

/// How to lower to the CPU.
struct CpuOptions {
  /// Where one worker at a time adds up the time of its nodes; it must outlive the workers.
  Profile* profile = nullptr;
  /// Kernels that stand before the back-end's own in the source and the step program, as another
  /// library's in a comparison. They must outlive the executable.
  std::span<const cpu::KernelEntry> kernels;
  /// A directory whose files hold the packed weights of models, for other processes; empty: none.
  std::string weights_cache;
  /// Threads that each worker has for one run of a program, itself counted. Bytes do not depend on
  /// it.
  std::size_t threads_per_sentence = 1;
};

/// Lowers the three programs of a model to the CPU: runs the load program, packs weights for the
/// active instruction set (see isa.h) and plans the others. The executable stays with that level,
/// whatever is made active later. Steps allocate nothing as long as every
/// node has a kernel of its own. A row's result does not depend on the other rows of its batch.
/// With a cache, what has been packed before is neither computed nor packed again, and lies in the
/// memory once for all processes.
std::unique_ptr<Executable> compile_cpu(const Programs& programs, TensorMap weights,
                                        const CpuOptions& options = {});

/// The weights of a model and the results of its load program, by name.
TensorMap load_cpu(const Graph& load_program, const TensorMap& weights);

}  // namespace fuselage
