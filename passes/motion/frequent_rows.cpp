#include "fuselage/passes/motion/frequent_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/fused/frequent_rows.h"
#include "fuselage/ops/structure/leaf.h"
#include "fuselage/ops/structure/rows.h"
#include "fuselage/passes/motion/cost_model.h"

namespace fuselage {
namespace {

constexpr Capture kRows{"rows"}, kMatrix{"w"};

/// The minimum expected share of look-ups that a table must serve to pay for its overhead.
constexpr double kLeastHitRate = 0.5;

/// Whether the rows of a product are looked up in a vocabulary value. False for one column: the
/// kernel would sum in another order, and the product is as cheap as a look-up.
bool is_lookup(const Graph& graph, const Node& product) {
  const Node& select = graph.producer(product.operands[0]);
  if (!select.has(Trait::selects_rows)) return false;
  const Type& rows = graph.value(select.operands[0]).type;
  return graph.domain(rows.domain).kind == DomainKind::vocabulary && rows.dims.size() == 1 &&
         graph.value(product.results[0]).type.dims[0] > 1;
}

/// The number of vocabulary entries of a look-up product.
std::int64_t entries(const Graph& graph, const Node& product) {
  const Node& select = graph.producer(product.operands[0]);
  return graph.domain(graph.value(select.operands[0]).type.domain).size;
}

/// Seconds per sentence that a complete table would save.
double saved_seconds(const Graph& graph, NodeId id, const CommuteOptions& options) {
  return expected_seconds(graph, cost_of(graph, id), graph.value(graph.result(id)).type.domain,
                          options.workload, options.target);
}

/// The share of a product in the remaining budget.
double share_of_budget(const Graph& graph, NodeId product, const CommuteOptions& options) {
  double total = 0;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (node.is<op::Matmul>() && is_lookup(graph, node)) total += saved_seconds(graph, id, options);
  }
  return total > 0 ? saved_seconds(graph, product, options) / total : 0;
}

/// The number of table rows that the share of the budget allows, at most all.
std::int64_t affordable_rows(const Match& match, const CommuteOptions& options) {
  const Graph& graph = match.graph();
  const TableCost present = present_tables(graph, options.target);
  const TableCost row = table_cost(graph, match.root(), 1, options.target);
  const double rows = std::min((options.table_bytes - present.bytes) / row.bytes,
                               (options.load_seconds - present.load_seconds) / row.load_seconds) *
                      share_of_budget(graph, match.root(), options);
  const std::int64_t all = entries(graph, match.root_node());
  return static_cast<std::int64_t>(std::clamp(rows, 0.0, static_cast<double>(all)));
}

std::optional<std::string> too_few_rows(const Match& match, const CommuteOptions& options) {
  const auto rows = match.analysis<std::int64_t>();
  const std::int64_t all = entries(match.graph(), match.root_node());
  const double hit_rate = expected_hit_rate(rows, all);
  if (hit_rate >= kLeastHitRate) return std::nullopt;
  const TableCost present = present_tables(match.graph(), options.target);
  return fmt::format(
      "beside tables of {:.1f} of {:.1f} MB, {:.2f} of {:.2f} s to load, there is room for {} of "
      "{} rows, which should serve {:.0f} % of look-ups, less than {:.0f} %",
      present.bytes / 1e6, options.table_bytes / 1e6, present.load_seconds, options.load_seconds,
      rows, all, 100 * hit_rate, 100 * kLeastHitRate);
}

std::optional<std::string> all_rows_fit(const Match& match) {
  const std::int64_t all = entries(match.graph(), match.root_node());
  if (match.analysis<std::int64_t>() < all) return std::nullopt;
  return fmt::format("all its {} rows would fit, so a plain table is better", all);
}

std::optional<std::string> own_default_row(const Match& match) {
  if (match.node(kRows).operands.size() == 1) return std::nullopt;
  return "its selection has a default row of its own, which no table holds";
}

void look_up(Rewriter& rewriter, const Match& match, const RankWeights& ranks) {
  const Graph& graph = match.graph();
  const auto via = match.node(kRows).as<op::Via>().via;
  const bool transposed = match.root_node().as<op::Matmul>().transposed;
  const auto count = match.analysis<std::int64_t>();
  const ValueId x = match.node(kRows).operands[0];
  const ValueId w = match[kMatrix];
  const DomainId vocabulary = graph.value(x).type.domain;

  std::vector<ValueId> leading{x};
  std::vector<ValueId> rank;
  if (const auto weight = ranks.find(graph.domain(vocabulary).name); weight != ranks.end())
    rank.push_back(rewriter.add(
        op::Param{.name = weight->second, .domain = vocabulary, .dims = {}, .dtype = DType::i32}));
  leading.insert(leading.end(), rank.begin(), rank.end());
  const ValueId frequent = rewriter.add(op::LeadingRows{.count = count}, std::move(leading));
  const ValueId table = rewriter.add(op::Matmul{.transposed = transposed}, {frequent, w});
  std::vector<ValueId> operands{x, w, table};
  operands.insert(operands.end(), rank.begin(), rank.end());
  rewriter.replace(
      match.result(),
      rewriter.add(op::LookupMatmul{.transposed = transposed, .via = via}, std::move(operands)));
}

}  // namespace

Pass frequent_rows(const CommuteOptions& options, const RankWeights& ranks) {
  using match::any, match::op;
  return {.name = "frequent_rows",
          .rules = {
              {.name = "lookup_products",
               .pattern = op<op::Matmul>({any(kRows), any(kMatrix)}).where(is_lookup),
               .analyze = [options](const Match& match) -> std::any {
                 return affordable_rows(match, options);
               },
               .guards = {{"budget",
                           [options](const Match& match) { return too_few_rows(match, options); }},
                          {"partial", all_rows_fit},
                          {"zeros_by_default", own_default_row}},
               .build = [ranks](Rewriter& rewriter,
                                const Match& match) { look_up(rewriter, match, ranks); }}}};
}

}  // namespace fuselage
