#include "backends/compile.h"

#include <algorithm>

#include "backends/cpu/cpu_backend.h"
#include "backends/cuda/cudnn.h"
#include "backends/cuda/kernel_table.h"
#include "backends/reference/reference_backend.h"
#include "base/error.h"
#include "graph/verifier.h"
#include "passes/pipeline.h"
#include "passes/rewrite/pass_manager.h"

namespace fuselage {

Optimizer make_optimizer(const CompileOptions& options) {
  PipelineOptions pipeline;
  if (options.precision == to_string(Precision::fp16) && options.backend == "cpu")
    throw Error("the cpu back-end has no products in fp16; use bf16 or the cuda back-end");
  if (options.exact && options.activations != "exact")
    throw Error(
        "activations are '{}', which changes results, but exact ones are asked for; drop one "
        "of the two",
        options.activations);
  pipeline.commute.table_bytes = options.precompute_memory * 1e6;
  pipeline.ranks = options.ranks;
  pipeline.precision = precision_from_string(options.precision);
  pipeline.activations = activations_from_string(options.activations);
  const KernelSet kernels = kernels_of(options.backend, BindingTime::step);
  pipeline.quantizing_kernels = std::any_of(
      kernels.begin(), kernels.end(), [](const KernelInfo* kernel) { return kernel->quantizes; });
  pipeline.recurrent_kernels =
      options.backend == "cuda" && !options.cuda.deterministic && cuda::has_recurrent_layers();
  return {select_passes(options.passes, pipeline),
          {.allow_reassociation = !options.exact,
           .allow_approximation = pipeline.activations != Activations::exact,
           .allow_quantization = pipeline.precision != Precision::fp32}};
}

std::vector<PassRecord> optimize(Graph& graph, const CompileOptions& options) {
  const Optimizer optimizer = make_optimizer(options);
  return run_passes(optimizer.passes, graph, optimizer.options);
}

KernelSet kernels_of(std::string_view backend, BindingTime program) {
  return backend == "cuda" && program != BindingTime::load ? cuda::cuda_kernels()
                                                           : cpu::kernel_set();
}

ProgramPlans plan_programs(const Programs& programs, std::string_view backend) {
  ProgramPlans plans;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const auto time = static_cast<BindingTime>(i);
    plans[i] = planned_nodes(plan_program(program(programs, time), kernels_of(backend, time)));
  }
  return plans;
}

std::unique_ptr<Executable> compile(Graph graph, TensorMap weights, const CompileOptions& options) {
  verify(graph);
  optimize(graph, options);
  check(!options.observer || options.backend == "reference", "only the oracle can be observed");
  if (options.backend == "reference")
    return compile_reference(std::move(graph), std::move(weights), options.observer);
  if (options.backend == "cpu")
    return compile_cpu(split_by_binding_time(graph), std::move(weights),
                       {.weights_cache = options.weights_cache,
                        .threads_per_sentence = options.threads_per_sentence});
  if (options.backend == "cuda")
    return compile_cuda(split_by_binding_time(graph), std::move(weights), options.cuda);
  throw Error("there is no back-end '{}'; it can be cpu, cuda or reference", options.backend);
}

}  // namespace fuselage
