#include "models/architectures/alignment_heads.h"

#include <fmt/format.h>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

void expect_below(const ModelOptions& options, const char* name, std::int64_t number,
                  std::int64_t count) {
  if (number < 0 || number >= count)
    throw Error(fmt::format("{}: '{}' names {}, but the decoder has {}, counted from 0",
                            options.where(), name, number, count));
}

}  // namespace

AlignmentHeads alignment_heads(const ModelOptions& options, std::int64_t layers, std::int64_t heads,
                               const AlignmentHeads& defaults) {
  AlignmentHeads chosen = defaults;
  if (options.has("alignment_layer"))
    chosen = {.layer = options.integer("alignment_layer", 0), .heads = {}};
  if (options.has("alignment_heads")) chosen.heads = options.integers("alignment_heads");
  expect_below(options, "alignment_layer", chosen.layer, layers);
  for (const std::int64_t head : chosen.heads)
    expect_below(options, "alignment_heads", head, heads);
  return chosen;
}

void add_alignment(Builder& builder, Expr weights, const AlignmentHeads& chosen) {
  Expr alignment;
  for (const std::int64_t head : chosen.heads) {
    const Expr one = slice(weights, head, head + 1);
    alignment = alignment.valid() ? alignment + one : one;
  }
  if (chosen.heads.size() > 1)
    alignment = alignment * (1.0 / static_cast<double>(chosen.heads.size()));
  if (chosen.heads.empty()) alignment = reduce_mean(weights);
  builder.output("alignment", alignment.named("alignment"));
}

}  // namespace fuselage
