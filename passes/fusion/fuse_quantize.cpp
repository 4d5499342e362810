#include "passes/fusion/fuse_quantize.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuselage/ops/fused/chains.h"
#include "fuselage/ops/precision/quantize.h"
#include "fuselage/ops/structure/leaf.h"
#include "passes/fusion/elementwise.h"

namespace fuselage {
namespace {

constexpr Capture kFloats{"x"}, kScale{"scale"};

// --- Scales that are known ---

std::optional<std::string> not_one_scale(const Match& match) {
  const auto values = match.node(kScale).as<op::Constant>().values;
  if (values.size() == 1 && values[0] > 0) return std::nullopt;
  return fmt::format("{} is not one positive number", match.graph().describe(match.node(kScale)));
}

void make_attribute(Rewriter& rewriter, const Match& match) {
  auto quantization = match.root_node().as<op::Quantization>();
  quantization.given_scale = static_cast<float>(match.node(kScale).as<op::Constant>().values[0]);
  rewriter.replace(match.result(), rewriter.add(op::Quantize{quantization}, {match[kFloats]}));
}

// --- Results ---

bool rounds(const Graph&, const Node& node) { return is_half(node.as<op::Quantization>().to); }
bool quantizes(const Graph& graph, const Node& node) { return !rounds(graph, node); }

std::optional<std::string> other_integers(const Match& match) {
  const Node& producer = match.node(kFloats);
  const auto same_vectors = [&] {
    return quantizer_of(producer) == quantizer_of(match.root_node()) &&
           producer.as<op::Quantization>().vectors ==
               match.root_node().as<op::Quantization>().vectors;
  };
  if (quantized_results(producer).empty() || same_vectors()) return std::nullopt;
  return fmt::format("{} quantizes to other integers already", match.graph().describe(producer));
}

/// Attributes with which the producer also quantizes the root's operand.
op::QuantizedResults quantizing_attributes(const Match& match) {
  const Node& producer = match.node(kFloats);
  op::QuantizedResults attributes{match.root_node().as<op::Quantization>(),
                                  quantized_results(producer)};
  const auto number = std::find(producer.results.begin(), producer.results.end(), match[kFloats]);
  attributes.quantized.push_back(number - producer.results.begin());
  return attributes;
}

/// The result of the producer that the root would add, if it is there already.
std::optional<ValueId> quantized_already(const Match& match) {
  const Node& producer = match.node(kFloats);
  const Dims quantized = quantized_results(producer);
  const auto own = producer.results.size() - quantized.size();
  for (std::size_t i = 0; i < quantized.size(); ++i)
    if (producer.results[static_cast<std::size_t>(quantized[i])] == match[kFloats])
      return producer.results[own + i];
  return std::nullopt;
}

void quantize_in_producer(Rewriter& rewriter, const Match& match) {
  if (const auto result = quantized_already(match))
    return rewriter.replace(match.result(), *result);
  const Graph& graph = match.graph();
  const Node& producer = match.node(kFloats);
  const NodeId fused = rewriter.clone(producer, producer.operands, quantizing_attributes(match));
  for (std::size_t i = 0; i < producer.results.size(); ++i)
    rewriter.replace(producer.results[i], graph.result(fused, i));
  rewriter.replace(match.result(), graph.result(fused, producer.results.size()));
}

// --- Single ops ---

bool is_plain_elementwise(const Graph& graph, const Node& node) {
  return is_elementwise(graph, node) && !node.has<op::QuantizedResults>();
}

std::optional<std::string> rounded_without_row_function(const Match& match) {
  return refuse_in_chain(match.graph(), match.node(kFloats));
}

/// An expression of one step, which can give rounded results.
void round_in_expression(Rewriter& rewriter, const Match& match) {
  const Graph& graph = match.graph();
  const BoundExpression bound = bind_expression(graph, match.node(kFloats));
  const NodeId fused =
      rewriter.add_node(op::Pointwise{{match.root_node().as<op::Quantization>(), {0}},
                                      print_expression(bound.expression)},
                        bound.operands);
  rewriter.replace(match[kFloats], graph.result(fused));
  rewriter.replace(match.result(), graph.result(fused, 1));
}

/// The rule `name` for nodes that `gives` holds for.
Rule results(std::string name, NodePredicate gives) {
  const auto may_quantize = [](const Graph&, const Node& node) {
    return node.has<op::QuantizedResults>();
  };
  return {.name = std::move(name),
          .pattern = match::op<op::Quantize>({match::node(may_quantize).named(kFloats).shared()})
                         .where(std::move(gives)),
          .guards = {{"same_integers", other_integers}},
          .build = quantize_in_producer};
}

}  // namespace

Pass fuse_quantize(bool to_integers, bool to_halves) {
  Pass pass{.name = "fuse_quantize"};
  if (to_integers) {
    pass.rules.push_back(
        {.name = "constant_scale",
         .pattern = match::op<op::Quantize>({match::any(kFloats), match::constant(kScale)}),
         .guards = {{"one_number", not_one_scale}},
         .build = make_attribute});
    pass.rules.push_back(results("quantized_results", quantizes));
  }
  if (to_halves) {
    pass.rules.push_back(results("rounded_results", rounds));
    pass.rules.push_back(
        {.name = "rounded_elements",
         .pattern =
             match::op<op::Quantize>({match::node(is_plain_elementwise).named(kFloats).shared()})
                 .where(rounds),
         .guards = {{"row_function", rounded_without_row_function}},
         .build = round_in_expression});
  }
  return pass;
}

}  // namespace fuselage
