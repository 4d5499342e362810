#include "passes/fuse_quantize.h"

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

/// The producer's attributes, and that it quantizes the root's operand.
std::vector<std::pair<std::string_view, Attr>> attributes_of(const Match& match) {
  const Node& producer = match.node("x");
  std::vector<std::pair<std::string_view, Attr>> attrs =
      quantizer_attributes(quantizer_of(match.root_node()));
  const auto number = std::find(producer.results.begin(), producer.results.end(), match["x"]);
  Dims quantized = quantized_results(producer);
  quantized.push_back(number - producer.results.begin());
  attrs.emplace_back("quantized", std::move(quantized));
  const std::size_t own = producer.attrs.size() - attrs.size();
  for (std::size_t i = 0; i < own; ++i)
    attrs.emplace_back(producer.op->attributes[i].name, producer.attrs[i]);
  return attrs;
}

void fuse(Rewriter& rewriter, const Match& match) {
  const Graph& graph = match.graph();
  // A copy, since adding nodes moves those there are.
  const Node producer = match.node("x");  // NOLINT(performance-unnecessary-copy-initialization)
  const NodeId fused =
      rewriter.add_node(producer.op->name, producer.operands, attributes_of(match));
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
