#include "passes/precision/quantize_attention.h"

#include <fmt/format.h>

#include "fuselage/base/quantized.h"
#include "fuselage/ops/fused/attention.h"
#include "fuselage/ops/precision/quantize.h"
#include "passes/precision/attention_rows.h"

namespace fuselage {
namespace {

std::int64_t heads_of(const Match& match) { return match.root_node().as<op::Heads>().heads; }

std::optional<std::string> wide_heads(const Match& match) {
  const std::int64_t width = row_size(match.type(kKeyRows)) / heads_of(match);
  if (width <= kMaxInt16Int8Products) return std::nullopt;
  return fmt::format("a sum of {} products may not fit 32 bits", width);
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
  const ValueId query = add_quantize(rewriter, match[kAttendingRows], of_queries, heads);
  const ValueId keys = add_quantize(rewriter, match[kKeyRows], {}, heads);
  const ValueId values = add_quantize(rewriter, match[kValueRows], {}, heads);
  replace_rows(rewriter, root, {query, keys, values});
}

}  // namespace

Pass quantize_attention() {
  return {.name = "quantize_attention",
          .rules = {{.name = "int8_keys_values",
                     .pattern = attention_of_floats(),
                     .guards = {{"read_again", read_once}, {"exact_sums", wide_heads}},
                     .numerics = {NumericClass::quantizes, 0, "translations of the same BLEU"},
                     .build = quantize_operands}}};
}

}  // namespace fuselage
