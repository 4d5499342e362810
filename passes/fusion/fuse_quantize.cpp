#include "passes/fusion/fuse_quantize.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/quantize.h"

namespace fuselage {
namespace {

std::optional<std::string> other_integers(const Match& match) {
  const Node& producer = match.node("x");
  if (quantized_results(producer).empty() ||
      quantizer_of(producer) == quantizer_of(match.root_node()))
    return std::nullopt;
  return fmt::format("{} quantizes to other integers already", match.graph().describe(producer));
}

/// The attributes by which the producer quantizes the root's operand too.
AttrList quantizing_attributes(const Match& match) {
  const Node& producer = match.node("x");
  AttrList attrs = quantizer_attributes(quantizer_of(match.root_node()));
  const auto number = std::find(producer.results.begin(), producer.results.end(), match["x"]);
  Dims quantized = quantized_results(producer);
  quantized.push_back(number - producer.results.begin());
  attrs.emplace_back("quantized", std::move(quantized));
  return attrs;
}

void fuse(Rewriter& rewriter, const Match& match) {
  const Graph& graph = match.graph();
  const Node& producer = match.node("x");
  const NodeId fused = rewriter.clone(producer, producer.operands, quantizing_attributes(match));
  for (std::size_t i = 0; i < producer.results.size(); ++i)
    rewriter.replace(producer.results[i], graph.result(fused, i));
  rewriter.replace(match.result(), graph.result(fused, producer.results.size()));
}

}  // namespace

Pass fuse_quantize() {
  const auto may_quantize = [](const Graph&, const Node& node) {
    return may_quantize_results(node);
  };
  return {
      .name = "fuse_quantize",
      .rules = {{.name = "quantized_results",
                 .pattern = match::op("quantize", {match::node(may_quantize).named("x").shared()}),
                 .guards = {{"same_integers", other_integers}},
                 .build = fuse}}};
}

}  // namespace fuselage
