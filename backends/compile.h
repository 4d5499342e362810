#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/cuda_backend.h"
#include "backends/executable.h"
#include "backends/plan/plan.h"
#include "backends/reference/reference_backend.h"
#include "passes/lowering/split_by_binding_time.h"
#include "passes/motion/frequent_rows.h"
#include "passes/rewrite/pass.h"

namespace fuselage {

/// How to turn a graph into something that runs.
struct CompileOptions {
  std::string backend = "cpu";  ///< "cpu", "cuda", or "reference": the slow oracle
  std::string passes = "all";   ///< optimizer passes, as select_passes takes them
  /// Only rewrites that keep every bit of a result in this precision; excludes other activations
  /// than exact ones.
  bool exact = false;
  std::string precision = "fp32";  ///< of products with weights, as precision_from_string takes it
  std::string activations = "exact";  ///< as activations_from_string takes it
  /// Most memory for products computed per vocabulary entry when the model is loaded, in 10^6
  /// bytes.
  double precompute_memory = 64;
  /// A directory for what the cpu back-end makes of weights, for other processes; empty: none.
  std::string weights_cache;
  /// Threads of the cpu back-end that work on one batch together.
  std::size_t threads_per_sentence = 1;
  CudaOptions cuda;   ///< of the cuda back-end
  RankWeights ranks;  ///< weights that sort vocabularies by frequency
  /// Sees each node that the reference back-end evaluates.
  NodeObserver observer;
};

/// The optimizer that `options` ask for. Throws Error for an unknown pass, for options that exclude
/// each other, and for a precision that the back-end has no products in.
struct Optimizer {
  std::vector<Pass> passes;
  PassOptions options;
};
Optimizer make_optimizer(const CompileOptions& options);

/// Runs the optimizer passes that `options` ask for. Throws Error for an unknown pass.
std::vector<PassRecord> optimize(Graph& graph, const CompileOptions& options = {});

/// The kernels by which a back-end, cpu or cuda, runs a program. The load program is the CPU's.
KernelSet kernels_of(std::string_view backend, BindingTime program);

/// How a back-end, cpu or cuda, runs the nodes of each program, by binding time. Needs no device.
/// Throws Error with the nodes that no kernel can run.
using ProgramPlans = std::array<std::vector<PlannedNode>, 3>;
ProgramPlans plan_programs(const Programs& programs, std::string_view backend);

/// Optimizes `graph` and lowers it to a back-end. Throws Error for an unknown back-end or pass, for
/// weights that do not fit the graph, and for what the back-end cannot run.
std::unique_ptr<Executable> compile(Graph graph, TensorMap weights,
                                    const CompileOptions& options = {});

}  // namespace fuselage
