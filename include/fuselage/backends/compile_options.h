#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "fuselage/backends/cuda/cuda_options.h"
#include "fuselage/base/activations.h"
#include "fuselage/base/api.h"
#include "fuselage/base/kv_cache.h"
#include "fuselage/base/precision.h"
#include "fuselage/passes/motion/rank_weights.h"
#include "fuselage/passes/workload.h"

namespace FUSELAGE_API fuselage {

template <typename T>
struct EvalContext;   // ops/evaluate.h
struct Profile;       // backends/executable.h
class SharedProfile;  // the same

/// Called for each node that the reference back-end evaluates, with operands and results. Several
/// workers call it from several threads.
using NodeObserver = std::function<void(const EvalContext<float>&)>;

/// Options of compile().
struct CompileOptions {
  std::string backend = "cpu";  ///< name of a back-end, as find_backend takes it
  std::string passes = "all";   ///< optimizer passes, as select_passes takes them
  /// Allow only rewrites that keep every bit of a result in this precision; requires exact
  /// activations.
  bool exact = false;
  /// Of products with weights. Unset: the model's, where a Translator or Scorer has one, else fp32.
  std::optional<Precision> precision = {};
  /// Of sigmoid and tanh. Unset: the model's, as for `precision`, else exact.
  std::optional<Activations> activations = {};
  /// Of the keys and values of a decoder's dot-product attention. Unset: the model's, as for
  /// `precision`, else fp32. Not all back-ends have others.
  std::optional<KvCache> kv_cache = {};
  /// Maximum memory for products precomputed per vocabulary entry at load, in 10^6 bytes.
  double precompute_memory = 64;
  RankWeights ranks = {};  ///< weights that sort vocabularies by frequency
  /// The expected workload; Translator and Scorer set it from their own settings.
  Workload workload = {};

  // Options of some back-ends only; others refuse them (see BackendOption).

  /// A directory that caches packed weights for other processes; empty: none.
  std::string weights_cache = {};
  /// Threads that work on one batch together.
  std::size_t threads_per_sentence = 1;
  /// Accumulates the time of nodes, for one worker at a time; must outlive the workers.
  Profile* profile = nullptr;
  /// Accumulates the time of nodes of all workers. A few steps are measured and stand for all, so
  /// that a program can do so all the time.
  std::shared_ptr<SharedProfile> shared_profile = {};
  CudaOptions cuda = {};
  NodeObserver observer = {};
  /// Evaluates all numbers in double; a GraphRunner then gives outputs of f32 as f64.
  bool in_double = false;
};

}  // namespace fuselage
