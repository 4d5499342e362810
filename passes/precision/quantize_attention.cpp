#include "passes/precision/quantize_attention.h"

#include <fmt/format.h>

#include "fuselage/base/quantized.h"
#include "fuselage/ops/fused/attention.h"
#include "fuselage/ops/precision/quantize.h"

namespace fuselage {
namespace {

constexpr Capture kQuery{"query"}, kKeys{"keys"}, kValues{"values"};

const Domain& left_domain(const Match& match) {
  const auto left = match.root_node().as<op::PairMembers>().left;
  return match.graph().domain(match.graph().map(left.front()).to);
}

std::int64_t heads_of(const Match& match) { return match.root_node().as<op::Heads>().heads; }

// --- Guards ---

std::optional<std::string> read_once(const Match& match) {
  const Domain& left = left_domain(match);
  if (left.binding == BindingTime::step) return std::nullopt;
  return fmt::format("all rows of '{}' attend at once, so its keys are not read again", left.name);
}

std::optional<std::string> wide_heads(const Match& match) {
  const std::int64_t width = row_size(match.type(kKeys)) / heads_of(match);
  if (width <= kMaxInt16Int8Products) return std::nullopt;
  return fmt::format("a sum of {} products may not fit 32 bits", width);
}

// --- Rule ---

bool reads_f32(const Graph& graph, const Node& node) {
  return graph.value(node.operands[1]).type.dtype == DType::f32 &&
         graph.value(node.operands[2]).type.dtype == DType::f32;
}

ValueId add_quantize(Rewriter& rewriter, ValueId x, const Quantizer& quantizer,
                     std::int64_t vectors) {
  op::Quantize quantize{quantization_of(quantizer)};
  quantize.vectors = vectors;
  return rewriter.add(quantize, {x});
}

void quantize_operands(Rewriter& rewriter, const Match& match) {
  const Node& root = match.root_node();
  const std::int64_t heads = heads_of(match);
  const Quantizer of_queries{.to = DType::qint16, .largest = kLargestOfInt16Rows};
  const ValueId query = add_quantize(rewriter, match[kQuery], of_queries, heads);
  const ValueId keys = add_quantize(rewriter, match[kKeys], {}, heads);
  const ValueId values = add_quantize(rewriter, match[kValues], {}, heads);
  std::vector<ValueId> operands{query, keys, values};
  operands.insert(operands.end(), root.operands.begin() + std::ssize(operands),
                  root.operands.end());
  const NodeId quantized = rewriter.clone(root, std::move(operands));
  for (std::size_t i = 0; i < root.results.size(); ++i)
    rewriter.replace(root.results[i], rewriter.graph().result(quantized, i));
}

}  // namespace

Pass quantize_attention() {
  Pattern attention =
      match::op<op::DotAttention>({match::any(kQuery), match::any(kKeys), match::any(kValues)})
          .variadic();
  return {.name = "quantize_attention",
          .rules = {{.name = "int8_keys_values",
                     .pattern = std::move(attention).where(reads_f32),
                     .guards = {{"read_again", read_once}, {"exact_sums", wide_heads}},
                     .numerics = {NumericClass::quantizes, 0, "translations of the same BLEU"},
                     .build = quantize_operands}}};
}

}  // namespace fuselage
