#include "passes/motion/split_products.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/structure/rows.h"
#include "fuselage/ops/structure/shape.h"

namespace fuselage {
namespace {

constexpr Capture kRight{"w"}, kWhole{"whole"};

/// This pass splits products of floats.
constexpr double kFloatBytes = sizeof(float);

/// Costs of products with a matrix of `columns` columns.
struct ProductCosts : CostModel {
  std::int64_t columns = 0;
  int levels = 8;  ///< maximum nesting of sums and concatenations

  const Type& type(ValueId value) const { return graph.value(value).type; }

  /// Number of vectors in a row of x.
  double vectors(ValueId x) const {
    const std::int64_t count = row_size(type(x)) / type(x).dims.back();
    return static_cast<double>(count);
  }

  /// Number of elements in a row of the product with x.
  double result_size(ValueId x) const { return vectors(x) * static_cast<double>(columns); }

  /// Seconds of the product with `elements` elements of x's last dimension, for the rows of a
  /// domain.
  double product(ValueId x, std::int64_t elements, DomainId domain) const {
    const auto k = static_cast<double>(elements);
    const auto n = static_cast<double>(columns);
    return seconds({.flop = 2 * vectors(x) * k * n,
                    .bytes = kFloatBytes * vectors(x) * (k + n),
                    .weight_bytes = kFloatBytes * k * n},
                   domain);
  }
  double product(ValueId x, DomainId domain) const {
    return product(x, type(x).dims.back(), domain);
  }
  double product(ValueId x) const { return product(x, type(x).domain); }

  double addition(double size, DomainId domain) const {
    return seconds({.flop = size, .bytes = 3 * kFloatBytes * size}, domain);
  }
};

/// Whether a table of the product for each vocabulary entry may exceed the memory or load budget.
bool beyond_budget(const ProductCosts& costs, ValueId x, DomainId domain) {
  const Domain& vocabulary = costs.graph.domain(domain);
  if (vocabulary.kind != DomainKind::vocabulary) return false;
  const double size = static_cast<double>(vocabulary.size) * costs.result_size(x);
  const double flop = 2 * size * static_cast<double>(costs.type(x).dims.back());
  return kFloatBytes * size > costs.options.table_bytes ||
         flop > costs.options.load_seconds * costs.options.target.load_flop_per_second;
}

double behind_selection(const ProductCosts& costs, const Node& select, double stay) {
  const ValueId x = select.results[0];
  const double reading =
      costs.seconds({.bytes = kFloatBytes * costs.result_size(x)}, costs.type(x).domain);
  double best = stay;
  const MapPath via = select.as<op::Via>().via;
  for (const MapId map : via) {
    const DomainId domain = costs.graph.map(map).to;
    if (!beyond_budget(costs, x, domain)) best = std::min(best, costs.product(x, domain) + reading);
  }
  return best;
}

double behind_mixture(const ProductCosts& costs, const Node& mix, double stay) {
  const Type& weights = costs.type(mix.operands[0]);
  if (row_size(weights) != 1) return stay;
  const double size = costs.result_size(mix.results[0]);
  const double mixing =
      costs.seconds({.flop = 2 * size, .bytes = kFloatBytes * size}, weights.domain);
  return std::min(stay, costs.product(mix.results[0], costs.type(mix.operands[1]).domain) + mixing);
}

/// Whether an operand is broadcast: its dimensions differ from the result's, so products with the
/// operands would not add up to the whole.
bool spreads_operand(const Graph& graph, const Node& sum) {
  const Dims& dims = graph.value(sum.results[0]).type.dims;
  return std::any_of(sum.operands.begin(), sum.operands.end(),
                     [&](ValueId operand) { return graph.value(operand).type.dims != dims; });
}

double cheapest(ProductCosts costs, ValueId x);

/// Seconds of a sum of products, one for each operand of `sum`.
double split_sum_seconds(const ProductCosts& costs, const Node& sum) {
  double seconds =
      costs.addition(costs.result_size(sum.results[0]), costs.type(sum.results[0]).domain);
  for (const ValueId operand : sum.operands) seconds += cheapest(costs, operand);
  return seconds;
}

/// Adjacent operands of a concatenation that share one product.
struct Piece {
  std::vector<ValueId> parts;
  std::int64_t begin = 0, end = 0;  ///< rows of the matrix
};

/// Splits a concatenation at operands whose product costs less elsewhere.
std::vector<Piece> pieces_of(const ProductCosts& costs, const Node& concat) {
  std::vector<Piece> pieces;
  bool open = false;
  std::int64_t begin = 0;
  for (const ValueId part : concat.operands) {
    const std::int64_t end = begin + costs.type(part).dims.back();
    const bool moves = cheapest(costs, part) < costs.product(part);
    if (moves || !open) pieces.push_back({{}, begin, begin});
    pieces.back().parts.push_back(part);
    pieces.back().end = end;
    open = !moves;
    begin = end;
  }
  return pieces;
}

/// Seconds of a sum of products, one for each piece.
double split_concat_seconds(const ProductCosts& costs, const Node& concat,
                            const std::vector<Piece>& pieces) {
  const DomainId domain = costs.type(concat.results[0]).domain;
  double seconds = static_cast<double>(pieces.size() - 1) *
                   costs.addition(costs.result_size(concat.results[0]), domain);
  for (const Piece& piece : pieces)
    seconds += piece.parts.size() == 1
                   ? cheapest(costs, piece.parts[0])
                   : costs.product(concat.results[0], piece.end - piece.begin, domain);
  return seconds;
}

/// Minimum seconds of the product with x over all splits and moves within the search depth.
double cheapest(ProductCosts costs, ValueId x) {
  const Node& node = costs.graph.producer(x);
  const double stay = costs.product(x);
  if (node.has(Trait::selects_rows)) return behind_selection(costs, node, stay);
  if (node.has(Trait::mixes_rows) && node.has<op::Via>()) return behind_mixture(costs, node, stay);
  if (costs.levels-- == 0) return stay;
  if (node.is<op::Add>() && !spreads_operand(costs.graph, node))
    return std::min(stay, split_sum_seconds(costs, node));
  if (node.is<op::Concat>())
    return std::min(stay, split_concat_seconds(costs, node, pieces_of(costs, node)));
  return stay;
}

ProductCosts costs_of(const Match& match, const CommuteOptions& options) {
  return {{match.graph(), options}, match.result_type().dims.back()};
}

std::optional<std::string> not_cheaper(const ProductCosts& costs, ValueId whole, double split) {
  const double stay = costs.product(whole);
  if (split < stay) return std::nullopt;
  return fmt::format("the parts would take {:.2g} s a sentence, the whole takes {:.2g}", split,
                     stay);
}

// --- Concatenations ---

std::optional<std::string> no_rows_to_cut(const Match& match) {
  const Graph& graph = match.graph();
  const bool transposed = match.root_node().as<op::Matmul>().transposed;
  if (match.type(kRight).domain == graph.none() && !transposed) return std::nullopt;
  return fmt::format("{}{} has no rows to cut", graph.show(match.type(kRight)),
                     transposed ? " transposed" : "");
}

void split_concat(Rewriter& rewriter, const Match& match) {
  const ValueId w = match[kRight];
  const auto& pieces = match.analysis<std::vector<Piece>>();
  ValueId sum;
  for (const Piece& piece : pieces) {
    const ValueId x =
        piece.parts.size() == 1 ? piece.parts[0] : rewriter.add(op::Concat{}, piece.parts);
    const ValueId rows =
        rewriter.add(op::SliceLeading{.begin = piece.begin, .end = piece.end}, {w});
    const ValueId product = rewriter.add(op::Matmul{}, {x, rows});
    sum = sum.valid() ? rewriter.add(op::Add{}, {sum, product}) : product;
  }
  rewriter.replace(match.result(), sum);
}

// --- Sums ---

std::optional<std::string> other_dims(const Match& match) {
  const Graph& graph = match.graph();
  const Node& sum = match.node(kWhole);
  if (!spreads_operand(graph, sum)) return std::nullopt;
  return fmt::format("{} and {} have different dimensions",
                     graph.show(graph.value(sum.operands[0]).type),
                     graph.show(graph.value(sum.operands[1]).type));
}

void split_sum(Rewriter& rewriter, const Match& match) {
  const ValueId w = match[kRight];
  const bool transposed = match.root_node().as<op::Matmul>().transposed;
  std::vector<ValueId> products;
  const std::vector<ValueId> parts = match.node(kWhole).operands;
  for (const ValueId part : parts)
    products.push_back(rewriter.add(op::Matmul{.transposed = transposed}, {part, w}));
  rewriter.replace(match.result(), rewriter.add(op::Add{}, std::move(products)));
}

template <OpStruct Op>
Pattern product_of() {
  return match::op<op::Matmul>({match::op<Op>().named(kWhole).shared(), match::any(kRight)});
}

}  // namespace

Pass split_products(const CommuteOptions& options) {
  const Numerics numerics{NumericClass::reassociates, 1e-4, "the order of a sum of products"};
  const auto cut = [options](const Match& match) -> std::any {
    return pieces_of(costs_of(match, options), match.node(kWhole));
  };
  const auto concat_cheaper = [options](const Match& match) {
    const ProductCosts costs = costs_of(match, options);
    const Node& whole = match.node(kWhole);
    const auto& pieces = match.analysis<std::vector<Piece>>();
    if (pieces.size() == 1)
      return std::optional(fmt::format(
          "no part could be computed for fewer rows, the whole takes {:.2g} s a sentence",
          costs.product(match[kWhole])));
    return not_cheaper(costs, match[kWhole], split_concat_seconds(costs, whole, pieces));
  };
  const auto sum_cheaper = [options](const Match& match) -> std::optional<std::string> {
    const ProductCosts costs = costs_of(match, options);
    const Node& whole = match.node(kWhole);
    // Another guard refuses broadcast sums, whose operands may not be vectors.
    if (spreads_operand(match.graph(), whole)) return std::nullopt;
    return not_cheaper(costs, match[kWhole], split_sum_seconds(costs, whole));
  };
  return {.name = "split_products",
          .rules = {{.name = "split_concatenation",
                     .pattern = product_of<op::Concat>(),
                     .analyze = cut,
                     .guards = {{"rows_of_matrix", no_rows_to_cut}, {"cheaper", concat_cheaper}},
                     .numerics = numerics,
                     .build = split_concat},
                    {.name = "split_sum",
                     .pattern = product_of<op::Add>(),
                     .guards = {{"same_dims", other_dims}, {"cheaper", sum_cheaper}},
                     .numerics = numerics,
                     .build = split_sum}}};
}

}  // namespace fuselage
