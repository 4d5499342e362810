#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "backends/compile_options.h"
#include "backends/executable.h"
#include "backends/plan/plan.h"
#include "base/enum_set.h"
#include "base/tensor.h"
#include "graph/graph.h"
#include "passes/precision/precision.h"
#include "passes/workload.h"

namespace fuselage {

/// The members of CompileOptions that only some back-ends have a use for.
enum class BackendOption : std::uint8_t {
  weights_cache,
  threads_per_sentence,
  profile,
  observer,
  device,  ///< cuda.device
  tf32,    ///< cuda.tf32
  eager,   ///< cuda.eager
};

/// What a back-end can do. The optimizer, the command and the inspector ask for these properties;
/// nobody asks for a back-end's name.
struct Capabilities {
  EnumSet<Precision> precisions;   ///< of products with weights
  EnumSet<BackendOption> options;  ///< that it has a use for
  bool plans = false;              ///< it runs programs by plans, which are made without a device
  bool needs_gpu = false;          ///< to run; not to make plans
  bool quantizing_kernels = true;  ///< it can quantize results as it makes them
  Target target;                   ///< of the cost model
};

/// Bounds of a batch. A sentence that is longer than `words` is a batch of its own.
struct BatchBounds {
  std::size_t sentences;
  std::size_t words;  ///< sentences times the words of the longest
};

/// A way to run models. There is one object for each, which lives as long as the program.
class Backend {
 public:
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  /// As users write it, as "cpu".
  virtual std::string_view name() const = 0;

  virtual const Capabilities& capabilities() const = 0;

  /// Whether it has kernels for whole recurrent layers under these options. May load a library.
  virtual bool has_recurrent_kernels(const CompileOptions&) const { return false; }

  /// The kernels from which plans of a program choose; empty without plans.
  virtual KernelSet kernels(BindingTime program) const = 0;

  /// Bounds of the batches in which it translates the most words in a second, where each sentence
  /// has `beam_size` hypotheses. `words` bounds the memory that a worker needs for long lines.
  virtual BatchBounds fastest_batches(std::size_t beam_size) const = 0;

  /// Makes an executable of a graph that has been optimized. Takes for granted that check() has
  /// passed. Throws Error for weights that do not fit, and for nodes that it cannot run.
  virtual std::unique_ptr<Executable> compile(Graph graph, TensorMap weights,
                                              const CompileOptions& options) const = 0;

  /// Throws Error for each option that it would ignore or cannot do, naming the option, the
  /// back-end, and the back-ends that can.
  void check(const CompileOptions& options) const;

 protected:
  Backend() = default;
};

/// All back-ends, the default one first.
std::span<const Backend* const> all_backends();

/// The back-end of that name. Throws Error, with the nearest name, when there is none.
const Backend& find_backend(std::string_view name);

}  // namespace fuselage
