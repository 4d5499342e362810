#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/exported.h"
#include "fuselage/backends/cpu/kernels/kernel_registry.h"
#include "fuselage/backends/executable.h"
#include "fuselage/passes/lowering/split_by_binding_time.h"

namespace fuselage {

/// Options of compile_cpu.
struct CpuOptions {
  /// Accumulates the time of nodes, for one worker at a time; must outlive the workers.
  Profile* profile = nullptr;
  /// Accumulates the time of nodes of all workers, from a few steps.
  std::shared_ptr<SharedProfile> shared_profile = {};
  /// Kernels preferred to the back-end's own in the source and step programs, such as another
  /// library's in a comparison. They must outlive the executable.
  std::span<const cpu::KernelEntry> kernels;
  /// A directory that caches packed weights for other processes; empty: none.
  std::string weights_cache;
  /// Threads per worker, the worker included. Results do not depend on it, bit for bit.
  std::size_t threads_per_sentence = 1;
};

/// Lowers the three programs of a model to the CPU: runs the load program, packs weights for the
/// active instruction-set level (see isa.h) and plans the other programs. The executable keeps that
/// level even if another becomes active. Steps allocate nothing if no node runs by the reference
/// evaluation. A row's result does not depend on the other rows of its batch. With a cache, weights
/// packed before are neither computed nor packed again, and all processes share them in memory.
FUSELAGE_EXPORTED std::unique_ptr<Executable> compile_cpu(const Programs& programs,
                                                          TensorMap weights,
                                                          const CpuOptions& options = {});

/// The weights of a model and the results of its load program, by name.
FUSELAGE_EXPORTED TensorMap load_cpu(const Graph& load_program, const TensorMap& weights);

}  // namespace fuselage
