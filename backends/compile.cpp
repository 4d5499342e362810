#include "fuselage/backends/compile.h"

#include <fmt/format.h>

#include <utility>

#include "fuselage/base/error.h"
#include "fuselage/base/stack.h"
#include "fuselage/graph/verifier.h"
#include "fuselage/passes/pipeline.h"
#include "graph/weights.h"
#include "passes/rewrite/pass_manager.h"

namespace fuselage {

Optimizer make_optimizer(const CompileOptions& options) {
  const Backend& backend = find_backend(options.backend);
  backend.check(options);
  const Precision precision = options.precision.value_or(Precision::fp32);
  const Activations activations = options.activations.value_or(Activations::exact);
  const KvCache kv_cache = options.kv_cache.value_or(KvCache::fp32);
  if (options.exact && activations != Activations::exact)
    throw Error(fmt::format(
        "activations are '{}', which changes results, but exact ones are asked for; drop one "
        "of the two",
        to_string(activations)));
  PipelineOptions pipeline;
  pipeline.commute.workload = options.workload;
  pipeline.commute.target = backend.capabilities().target;
  pipeline.commute.table_bytes = options.precompute_memory * 1e6;
  pipeline.ranks = options.ranks;
  pipeline.precision = precision;
  pipeline.products = backend.capabilities().precisions;
  pipeline.activations = activations;
  pipeline.kv_cache = kv_cache;
  pipeline.quantizing_kernels = backend.capabilities().quantizing_kernels;
  pipeline.rounding_kernels = backend.capabilities().rounding_kernels;
  pipeline.appending_kernels = backend.capabilities().appending_kernels;
  pipeline.position_kernels = backend.capabilities().position_kernels;
  pipeline.recurrent_kernels = backend.has_recurrent_kernels(options);
  return {select_passes(options.passes, pipeline),
          {.allow_reassociation = !options.exact,
           .allow_approximation = activations != Activations::exact,
           .allow_quantization = precision != Precision::fp32 || kv_cache != KvCache::fp32}};
}

std::vector<PassRecord> optimize(Graph& graph, const CompileOptions& options) {
  expect_stack();
  const Optimizer optimizer = make_optimizer(options);
  return run_passes(optimizer.passes, graph, optimizer.options);
}

ProgramPlans plan_programs(const Programs& programs, const Backend& backend) {
  if (!backend.capabilities().plans)
    throw Error(fmt::format("the {} back-end has no plans to show", backend.name()));
  ProgramPlans plans;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const auto time = static_cast<BindingTime>(i);
    plans[i] = planned_nodes(plan_program(program(programs, time), backend.kernels(time)));
  }
  return plans;
}

std::unique_ptr<Executable> compile(Graph graph, TensorMap weights, const CompileOptions& options) {
  expect_stack();
  verify(graph);
  expect_weights(graph, weights);
  optimize(graph, options);
  return find_backend(options.backend).compile(std::move(graph), std::move(weights), options);
}

}  // namespace fuselage
