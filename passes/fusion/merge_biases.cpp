#include "passes/fusion/merge_biases.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/structure/shape.h"

namespace fuselage {
namespace {

constexpr Capture kWholeProduct{"product"}, kPartBias{"bias"};

/// A part of a product and the sum that reads it.
struct Part {
  NodeId slice, sum;

  op::Range range(const Graph& graph) const { return graph.node(slice).as<op::Range>(); }
};

/// The parts of a product by their columns, or the reason why their sums cannot be one.
struct ProductParts {
  std::vector<Part> parts;
  std::optional<std::string> refusal;
};

/// The reason why a part has no bias that could be a part of the product's.
std::optional<std::string> refuse_sum(const Graph& graph, const Node& slice) {
  const Value& part = graph.value(slice.results[0]);
  if (graph.is_output(slice.results[0]) || part.uses.size() != 1)
    return fmt::format("{} is not read by one sum alone", graph.describe(slice));
  const Node& sum = graph.node(part.uses[0].node);
  if (!sum.is<op::Add>() || part.uses[0].operand != 0)
    return fmt::format("{} reads {}", graph.describe(sum), graph.describe(slice));
  const Type& bias = graph.value(sum.operands[1]).type;
  if (bias.domain != graph.none() || bias.dims != part.type.dims)
    return fmt::format("{} adds {}, not a vector for all rows", graph.describe(sum),
                       graph.show(bias));
  return std::nullopt;
}

ProductParts parts_of(const Graph& graph, ValueId product) {
  ProductParts all;
  if (graph.is_output(product)) all.refusal = "the whole product is an output of the graph";
  for (const Use& use : graph.value(product).uses) {
    const Node& slice = graph.node(use.node);
    if (!slice.is<op::Slice>())
      all.refusal = fmt::format("{} reads the whole product", graph.describe(slice));
    if (!all.refusal) all.refusal = refuse_sum(graph, slice);
    if (all.refusal) return all;
    all.parts.push_back({use.node, graph.value(slice.results[0]).uses[0].node});
  }
  std::sort(all.parts.begin(), all.parts.end(), [&](const Part& a, const Part& b) {
    return a.range(graph).begin < b.range(graph).begin;
  });
  std::int64_t end = 0;
  for (const Part& part : all.parts) {
    if (part.range(graph).begin != end)
      all.refusal = fmt::format("columns from {} on are not in one part", end);
    end = part.range(graph).end;
  }
  if (end != graph.value(product).type.dims.back())
    all.refusal = fmt::format("columns from {} on are in no part", end);
  return all;
}

/// One match for each product.
bool is_first_part(const Graph&, const Node& slice) { return slice.as<op::Range>().begin == 0; }

std::optional<std::string> other_readers(const Match& match) {
  return match.analysis<ProductParts>().refusal;
}

void add_all_biases(Rewriter& rewriter, const Match& match) {
  const Graph& graph = match.graph();
  const auto parts = match.analysis<ProductParts>().parts;
  std::vector<ValueId> biases;
  for (const Part& part : parts) {
    rewriter.include(part.slice);
    rewriter.include(part.sum);
    biases.push_back(graph.node(part.sum).operands[1]);
  }
  const ValueId bias = rewriter.add(op::Concat{}, std::move(biases));
  const ValueId whole = rewriter.add(op::Add{}, {match[kWholeProduct], bias});
  for (const Part& part : parts) {
    const op::Range range = part.range(graph);
    const ValueId sum = graph.result(part.sum);
    rewriter.replace(sum, rewriter.add(op::Slice{.begin = range.begin, .end = range.end}, {whole}));
  }
}

}  // namespace

Pass merge_biases() {
  return {
      .name = "merge_biases",
      .rules = {{.name = "biases_of_parts",
                 .pattern = match::op<op::Add>(
                     {match::op<op::Slice>({match::op<op::Matmul>().named(kWholeProduct).shared()})
                          .where(is_first_part)
                          .shared(),
                      match::any(kPartBias)}),
                 .analyze = [](const Match& match) -> std::any {
                   return parts_of(match.graph(), match[kWholeProduct]);
                 },
                 .guards = {{"biases", other_readers}},
                 .build = add_all_biases}}};
}

}  // namespace fuselage
