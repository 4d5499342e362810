#include "backends/bake.h"

#include "backends/cpu/executable.h"
#include "fuselage/graph/verifier.h"
#include "fuselage/ops/structure/leaf.h"
#include "fuselage/passes/lowering/split_by_binding_time.h"
#include "fuselage/passes/pipeline.h"
#include "fuselage/passes/rewrite/rewriter.h"
#include "graph/weights.h"
#include "passes/cleanup/remove_dead_code.h"
#include "passes/rewrite/pass_manager.h"

namespace fuselage {
namespace {

/// Replaces each result of the load program by a stored weight.
void store_results(Rewriter& rewriter, const Programs& programs) {
  const auto& origins = programs.origins[static_cast<std::size_t>(BindingTime::load)];
  for (const Output& output : programs.load.outputs()) {
    const Value& computed = programs.load.value(output.value);
    const NodeId origin = origins.at(computed.producer.index);
    const ValueId whole = rewriter.graph().result(origin, computed.result);
    rewriter.begin("bake", {&origin, 1});
    const ValueId stored = rewriter.add(op::Param{.name = output.name,
                                                  .domain = computed.type.domain,
                                                  .dims = computed.type.dims,
                                                  .dtype = computed.type.dtype});
    rewriter.replace(whole, stored);
    rewriter.finish();
  }
}

TensorMap parameters_of(const Graph& graph, const TensorMap& values) {
  TensorMap weights;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!node.has(Trait::external)) continue;
    const auto name = node.as<ExternalName>().name;
    weights.emplace(name, values.at(name));
  }
  return weights;
}

}  // namespace

void bake(Graph& graph, TensorMap& weights, const CompileOptions& options) {
  verify(graph);
  expect_weights(graph, weights);
  Optimizer optimizer = make_optimizer(options);
  // Fusions run later, after the search head is added.
  std::erase_if(optimizer.passes, [](const Pass& pass) { return !pass.for_tables; });
  run_passes(optimizer.passes, graph, optimizer.options);
  const Programs programs = split_by_binding_time(graph);
  const TensorMap values = load_cpu(programs.load, weights);
  const Pass store{.name = "bake", .run = [&programs](Rewriter& rewriter) {
                     store_results(rewriter, programs);
                     return rewriter.changes() > 0;
                   }};
  run_passes(std::vector<Pass>{store, remove_dead_code()}, graph);
  weights = parameters_of(graph, values);
}

}  // namespace fuselage
