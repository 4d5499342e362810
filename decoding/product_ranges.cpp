#include "decoding/product_ranges.h"

#include <algorithm>
#include <map>

#include "fuselage/decoding/translator.h"
#include "fuselage/ops/evaluate.h"

namespace fuselage {
namespace {

std::string name_of(const Graph& graph, ValueId value) {
  const std::string& name = graph.value(value).name;
  return name.empty() ? graph.describe(graph.value(value).producer) : name;
}

void measure(const Array<float>& x, ProductRange& range) {
  for (const float value : x.data) {
    range.least = std::min(range.least, value);
    range.most = std::max(range.most, value);
    range.outside += !(value >= 0 && value <= kLargestActivation);
  }
  range.numbers += static_cast<std::int64_t>(x.data.size());
}

}  // namespace

std::vector<ProductRange> measure_products(const Model& model,
                                           const VocabularyPairOptions& vocabularies,
                                           const std::vector<std::string>& lines) {
  std::vector<ProductRange> ranges;
  std::map<ValueId, std::size_t> place;
  const auto observe = [&](const EvalContext<float>& context) {
    if (context.node.op->name != "matmul") return;
    const ValueId result = context.node.results[0];
    const auto [found, added] = place.try_emplace(result, ranges.size());
    if (added)
      ranges.push_back({.product = name_of(context.graph, result),
                        .rows = name_of(context.graph, context.node.operands[0])});
    measure(*context.operands[0], ranges[found->second]);
  };
  const TranslatorOptions options{.beam_size = 1,
                                  .vocabularies = vocabularies,
                                  .compile = {.backend = "reference",
                                              .passes = "none",
                                              .precision = Precision::fp32,
                                              .activations = Activations::exact,
                                              .kv_cache = KvCache::fp32,
                                              .observer = observe}};
  Translator(model, options).translate(lines);
  return ranges;
}

}  // namespace fuselage
