#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/backends/compile_options.h"
#include "fuselage/backends/executable.h"
#include "fuselage/backends/plan/plan.h"
#include "fuselage/base/api.h"
#include "fuselage/base/enum_set.h"
#include "fuselage/base/precision.h"
#include "fuselage/base/tensor.h"
#include "fuselage/graph/graph.h"
#include "fuselage/passes/workload.h"

namespace FUSELAGE_API fuselage {

/// The members of CompileOptions that only some back-ends support.
enum class BackendOption : std::uint8_t {
  weights_cache,
  threads_per_sentence,
  kv_cache,  ///< other than fp32
  profile,
  observer,
  in_double,
  devices,  ///< cuda.devices
  tf32,     ///< cuda.tf32
  eager,    ///< cuda.eager
};

/// Properties of a back-end. The optimizer, the command and the inspector test these, never a
/// back-end's name.
struct Capabilities {
  EnumSet<Precision> precisions;   ///< of products with weights
  EnumSet<BackendOption> options;  ///< supported options
  bool plans = false;              ///< programs are run by plans, which are made without a device
  bool needs_gpu = false;          ///< for running, not for planning
  bool quantizing_kernels = true;  ///< kernels can quantize their results to integers
  /// Products with 16-bit matrices round their rows, and kernels can round their results.
  bool rounding_kernels = false;
  bool appending_kernels = false;  ///< kernels append rows to histories that they read
  bool position_kernels = false;   ///< kernels add sinusoids of the positions that they read
  Target target;                   ///< for the cost model
};

/// Bounds of a batch. A sentence longer than `words` is a batch of its own.
struct BatchBounds {
  std::size_t sentences;
  std::size_t words;  ///< sentences times words of the longest
  bool firm = false;  ///< larger batches gain little or lose: options can only lower the bounds
  /// Sentences of the largest batches that may be faster, for a measurement to tell (BatchTuner);
  /// 0: none are.
  std::size_t grows_to = 0;
};

/// A back-end: compiles graphs to executables. Each is a singleton that lives as long as the
/// process.
class Backend {
 public:
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  /// The name as users write it, such as "cpu".
  virtual std::string_view name() const = 0;

  virtual const Capabilities& capabilities() const = 0;

  /// Whether it has kernels for whole recurrent layers with these options. May load a library.
  virtual bool has_recurrent_kernels(const CompileOptions&) const { return false; }

  /// The kernels that plans of a program choose from; empty for back-ends without plans.
  virtual KernelSet kernels(BindingTime program) const = 0;

  /// Bounds of the batches with the highest throughput, for `beam_size` hypotheses per sentence.
  /// `words` bounds a worker's memory for long lines.
  virtual BatchBounds fastest_batches(std::size_t beam_size) const = 0;

  /// Notes for the user on options that are valid, but that others outdo.
  virtual std::vector<std::string> notes(const CompileOptions&) const { return {}; }

  /// Makes an executable of an optimized graph. Precondition: check() has passed. Throws Error for
  /// weights that are missing or have another shape, and for nodes that it cannot run.
  virtual std::unique_ptr<Executable> compile(Graph graph, TensorMap weights,
                                              const CompileOptions& options) const = 0;

  /// Throws Error for an option or value that it does not support, with the option, this back-end,
  /// and the back-ends that support it.
  void check(const CompileOptions& options) const;

 protected:
  Backend() = default;
};

/// All back-ends, the default one first.
std::span<const Backend* const> all_backends();

/// The back-end named `name`. Throws Error with the nearest name if there is none.
const Backend& find_backend(std::string_view name);

}  // namespace fuselage
