#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "backends/cuda/cuda_options.h"
#include "backends/executable.h"
#include "ops/evaluate.h"
#include "passes/motion/frequent_rows.h"
#include "passes/precision/approximate_activations.h"
#include "passes/precision/precision.h"
#include "passes/workload.h"

namespace fuselage {

/// Sees each node that the reference back-end evaluates, with its operands and results. With
/// several workers it is called from several threads.
using NodeObserver = std::function<void(const EvalContext<float>&)>;

/// How to turn a graph into something that runs.
struct CompileOptions {
  std::string backend = "cpu";  ///< name of a back-end, as find_backend takes it
  std::string passes = "all";   ///< optimizer passes, as select_passes takes them
  /// Only rewrites that keep every bit of a result in this precision; excludes other activations
  /// than exact ones.
  bool exact = false;
  Precision precision = Precision::fp32;  ///< of products with weights
  Activations activations = Activations::exact;
  /// Most memory for products computed per vocabulary entry when the model is loaded, in 10^6
  /// bytes.
  double precompute_memory = 64;
  RankWeights ranks;  ///< weights that sort vocabularies by frequency
  /// What the executable is expected to run; Translator and Scorer fill it in from their own
  /// settings.
  Workload workload;

  // The following are for some back-ends only; others refuse them (see BackendOption).

  /// A directory for packed weights, for other processes; empty: none.
  std::string weights_cache;
  /// Threads that work on one batch together.
  std::size_t threads_per_sentence = 1;
  /// Where one worker at a time adds up the time of its nodes; it must outlive the workers.
  Profile* profile = nullptr;
  CudaOptions cuda;
  NodeObserver observer;
};

}  // namespace fuselage
