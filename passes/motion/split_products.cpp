#include "passes/motion/split_products.h"

#include <fmt/format.h>

#include <algorithm>

namespace fuselage {
namespace {

/// What is needed to cost a product of some value with a matrix of so many columns.
struct Judge {
  const Graph& graph;
  const CommuteOptions& options;
  std::int64_t columns = 0;
  int levels = 8;  ///< of sums and concatenations to look into; shared ones are met many times

  double seconds(const Cost& cost, DomainId domain) const {
    return expected_seconds(graph, cost, domain, options.workload, options.target);
  }

  const Type& type(ValueId value) const { return graph.value(value).type; }

  /// Vectors of a row of x.
  double vectors(ValueId x) const {
    const std::int64_t count = row_size(type(x)) / type(x).dims.back();
    return static_cast<double>(count);
  }

  /// Elements of a row of the product with x.
  double result_size(ValueId x) const { return vectors(x) * static_cast<double>(columns); }

  /// The product with some elements of x's last dimension, for the rows of a domain.
  double product(ValueId x, std::int64_t elements, DomainId domain) const {
    const auto k = static_cast<double>(elements);
    const auto n = static_cast<double>(columns);
    return seconds({.flop = 2 * vectors(x) * k * n,
                    .bytes = 4 * vectors(x) * (k + n),
                    .weight_bytes = 4 * k * n},
                   domain);
  }
  double product(ValueId x, DomainId domain) const {
    return product(x, type(x).dims.back(), domain);
  }
  double product(ValueId x) const { return product(x, type(x).domain); }

  double addition(double size, DomainId domain) const {
    return seconds({.flop = size, .bytes = 12 * size}, domain);
  }
};

/// True when a table of the product for each entry of a vocabulary may be too much to keep or load.
bool beyond_budget(const Judge& judge, ValueId x, DomainId domain) {
  const Domain& vocabulary = judge.graph.domain(domain);
  if (vocabulary.kind != DomainKind::vocabulary) return false;
  const double size = static_cast<double>(vocabulary.size) * judge.result_size(x);
  const double flop = 2 * size * static_cast<double>(judge.type(x).dims.back());
  return 4 * size > judge.options.table_bytes ||
         flop > judge.options.load_seconds * judge.options.target.flop_per_second;
}

double behind_selection(const Judge& judge, const Node& select, double stay) {
  const ValueId x = select.results[0];
  const double reading = judge.seconds({.bytes = 4 * judge.result_size(x)}, judge.type(x).domain);
  double best = stay;
  for (const MapId map : select.attr<MapPath>("via")) {
    const DomainId domain = judge.graph.map(map).to;
    if (!beyond_budget(judge, x, domain)) best = std::min(best, judge.product(x, domain) + reading);
  }
  return best;
}

double behind_mixture(const Judge& judge, const Node& mix, double stay) {
  const Type& weights = judge.type(mix.operands[0]);
  if (row_size(weights) != 1) return stay;
  const double size = judge.result_size(mix.results[0]);
  const double mixing = judge.seconds({.flop = 2 * size, .bytes = 4 * size}, weights.domain);
  return std::min(stay, judge.product(mix.results[0], judge.type(mix.operands[1]).domain) + mixing);
}

/// Operands that have the dimensions of the result, so that a product with each of them has the
/// dimensions of the whole.
bool spreads_operand(const Graph& graph, const Node& sum) {
  const Dims& dims = graph.value(sum.results[0]).type.dims;
  return std::any_of(sum.operands.begin(), sum.operands.end(),
                     [&](ValueId operand) { return graph.value(operand).type.dims != dims; });
}

double cheapest(Judge judge, ValueId x);

/// Seconds of a sum of products, one for each operand of `sum`.
double split_sum_seconds(const Judge& judge, const Node& sum) {
  double seconds =
      judge.addition(judge.result_size(sum.results[0]), judge.type(sum.results[0]).domain);
  for (const ValueId operand : sum.operands) seconds += cheapest(judge, operand);
  return seconds;
}

/// Neighbours of a concatenation that share one product.
struct Piece {
  std::vector<ValueId> parts;
  std::int64_t begin = 0, end = 0;  ///< rows of the matrix
};

/// Cuts a concatenation where a part's product can be computed for less than here.
std::vector<Piece> pieces_of(const Judge& judge, const Node& concat) {
  std::vector<Piece> pieces;
  bool open = false;
  std::int64_t begin = 0;
  for (const ValueId part : concat.operands) {
    const std::int64_t end = begin + judge.type(part).dims.back();
    const bool moves = cheapest(judge, part) < judge.product(part);
    if (moves || !open) pieces.push_back({{}, begin, begin});
    pieces.back().parts.push_back(part);
    pieces.back().end = end;
    open = !moves;
    begin = end;
  }
  return pieces;
}

/// Seconds of a sum of products, one for each piece.
double split_concat_seconds(const Judge& judge, const Node& concat) {
  const DomainId domain = judge.type(concat.results[0]).domain;
  const std::vector<Piece> pieces = pieces_of(judge, concat);
  double seconds = static_cast<double>(pieces.size() - 1) *
                   judge.addition(judge.result_size(concat.results[0]), domain);
  for (const Piece& piece : pieces)
    seconds += piece.parts.size() == 1
                   ? cheapest(judge, piece.parts[0])
                   : judge.product(concat.results[0], piece.end - piece.begin, domain);
  return seconds;
}

/// Seconds of the product with x where it costs least, as far as splitting and commuting can see.
double cheapest(Judge judge, ValueId x) {
  const Node& node = judge.graph.producer(x);
  const double stay = judge.product(x);
  if (node.has(Trait::selects_rows)) return behind_selection(judge, node, stay);
  if (node.has(Trait::mixes_rows) && node.op->attribute_index("via"))
    return behind_mixture(judge, node, stay);
  if (judge.levels-- == 0) return stay;
  if (node.op->name == "add" && !spreads_operand(judge.graph, node))
    return std::min(stay, split_sum_seconds(judge, node));
  if (node.op->name == "concat") return std::min(stay, split_concat_seconds(judge, node));
  return stay;
}

Judge judge_of(const Match& match, const CommuteOptions& options) {
  return {match.graph(), options, match.result_type().dims.back()};
}

std::optional<std::string> not_cheaper(const Judge& judge, ValueId whole, double split) {
  const double stay = judge.product(whole);
  if (split < stay) return std::nullopt;
  return fmt::format("the parts would take {:.2g} s a sentence, the whole takes {:.2g}", split,
                     stay);
}

// --- Concatenations ---

std::optional<std::string> other_layout(const Match& match) {
  const Graph& graph = match.graph();
  const bool transposed = match.root_node().attr<bool>("transposed");
  if (match.type("w").domain == graph.none() && !transposed) return std::nullopt;
  return fmt::format("{}{} has no rows to cut", graph.show(match.type("w")),
                     transposed ? " transposed" : "");
}

void split_concat(Rewriter& rewriter, const Match& match, const CommuteOptions& options) {
  const ValueId w = match["w"];
  const std::vector<Piece> pieces = pieces_of(judge_of(match, options), match.node("whole"));
  ValueId sum;
  for (const Piece& piece : pieces) {
    const ValueId x =
        piece.parts.size() == 1 ? piece.parts[0] : rewriter.add("concat", piece.parts);
    const ValueId rows =
        rewriter.add("slice_leading", {w}, {{"begin", piece.begin}, {"end", piece.end}});
    const ValueId product = rewriter.add("matmul", {x, rows});
    sum = sum.valid() ? rewriter.add("add", {sum, product}) : product;
  }
  rewriter.replace(match.result(), sum);
}

// --- Sums ---

std::optional<std::string> other_dims(const Match& match) {
  const Graph& graph = match.graph();
  const Node& sum = match.node("whole");
  if (!spreads_operand(graph, sum)) return std::nullopt;
  return fmt::format("{} and {} have different dimensions",
                     graph.show(graph.value(sum.operands[0]).type),
                     graph.show(graph.value(sum.operands[1]).type));
}

void split_sum(Rewriter& rewriter, const Match& match) {
  const ValueId w = match["w"];
  const bool transposed = match.root_node().attr<bool>("transposed");
  std::vector<ValueId> products;
  const std::vector<ValueId> parts = match.node("whole").operands;
  for (const ValueId part : parts)
    products.push_back(rewriter.add("matmul", {part, w}, {{"transposed", transposed}}));
  rewriter.replace(match.result(), rewriter.add("add", std::move(products)));
}

Pattern product_of(std::string_view op) {
  return match::op("matmul", {match::op(op).named("whole").shared(), match::any("w")});
}

}  // namespace

Pass split_products(const CommuteOptions& options) {
  const Numerics numerics{NumericClass::reassociates, 1e-4, "the order of a sum of products"};
  const auto concat_cheaper = [options](const Match& match) {
    const Judge judge = judge_of(match, options);
    const Node& whole = match.node("whole");
    if (pieces_of(judge, whole).size() == 1)
      return std::optional(fmt::format(
          "no part could be computed for fewer rows, the whole takes {:.2g} s a sentence",
          judge.product(match["whole"])));
    return not_cheaper(judge, match["whole"], split_concat_seconds(judge, whole));
  };
  const auto sum_cheaper = [options](const Match& match) -> std::optional<std::string> {
    const Judge judge = judge_of(match, options);
    const Node& whole = match.node("whole");
    // Another guard refuses these, whose operands may be no vectors.
    if (spreads_operand(match.graph(), whole)) return std::nullopt;
    return not_cheaper(judge, match["whole"], split_sum_seconds(judge, whole));
  };
  return {.name = "split_products",
          .rules = {
              {.name = "split_concatenation",
               .pattern = product_of("concat"),
               .guards = {{"rows_of_matrix", other_layout}, {"cheaper", concat_cheaper}},
               .numerics = numerics,
               .build = [options](Rewriter& rewriter,
                                  const Match& match) { split_concat(rewriter, match, options); }},
              {.name = "split_sum",
               .pattern = product_of("add"),
               .guards = {{"same_dims", other_dims}, {"cheaper", sum_cheaper}},
               .numerics = numerics,
               .build = split_sum}}};
}

}  // namespace fuselage
