#include "passes/fusion/fuse_quantize.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuselage/ops/quantize.h"

namespace fuselage {
namespace {

constexpr Capture kX{"x"};

std::optional<std::string> other_integers(const Match& match) {
  const Node& producer = match.node(kX);
  if (quantized_results(producer).empty() ||
      quantizer_of(producer) == quantizer_of(match.root_node()))
    return std::nullopt;
  return fmt::format("{} quantizes to other integers already", match.graph().describe(producer));
}

/// Attributes with which the producer also quantizes the root's operand.
op::QuantizedResults quantizing_attributes(const Match& match) {
  const Node& producer = match.node(kX);
  op::QuantizedResults attributes{match.root_node().as<op::Quantization>(),
                                  quantized_results(producer)};
  const auto number = std::find(producer.results.begin(), producer.results.end(), match[kX]);
  attributes.quantized.push_back(number - producer.results.begin());
  return attributes;
}

void fuse(Rewriter& rewriter, const Match& match) {
  const Graph& graph = match.graph();
  const Node& producer = match.node(kX);
  const NodeId fused = rewriter.clone(producer, producer.operands, quantizing_attributes(match));
  for (std::size_t i = 0; i < producer.results.size(); ++i)
    rewriter.replace(producer.results[i], graph.result(fused, i));
  rewriter.replace(match.result(), graph.result(fused, producer.results.size()));
}

}  // namespace

Pass fuse_quantize() {
  const auto may_quantize = [](const Graph&, const Node& node) {
    return node.has<op::QuantizedResults>();
  };
  return {
      .name = "fuse_quantize",
      .rules = {{.name = "quantized_results",
                 .pattern = match::op<op::Quantize>({match::node(may_quantize).named(kX).shared()}),
                 .guards = {{"same_integers", other_integers}},
                 .build = fuse}}};
}

}  // namespace fuselage
