#include "fuselage/passes/motion/commute_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"
#include "fuselage/ops/structure/leaf.h"
#include "fuselage/ops/structure/rows.h"
#include "fuselage/passes/motion/cost_model.h"

namespace fuselage {
namespace {

bool has_rows(const Graph& graph, ValueId value) {
  return graph.value(value).type.domain != graph.none();
}

MapPath path_of(const Node& select) { return select.as<op::Via>().via; }

/// The selection that feeds a row-wise node, if every operand with rows is a selection along the
/// same path; else nullptr.
const Node* common_selection(const Graph& graph, const Node& node) {
  if (!node.has(Trait::row_wise) || node.results.size() != 1) return nullptr;
  const Node* common = nullptr;
  for (const ValueId operand : node.operands) {
    if (!has_rows(graph, operand)) continue;
    const Node& select = graph.producer(operand);
    if (!select.has(Trait::selects_rows)) return nullptr;
    // Stored integers are converted where they are read (select_stored_rows).
    if (is_quantized(graph.value(operand).type.dtype)) return nullptr;
    if (common && path_of(*common) != path_of(select)) return nullptr;
    common = &select;
  }
  return common;
}

// --- Chains ---

/// Nodes that could move along one path with a node that is elementwise. Looks at kMaxNodes in each
/// direction, more than chains have; beyond them nothing moves.
class MovingChain {
 public:
  MovingChain(const Graph& graph, MapPath path) : graph_(graph), path_(std::move(path)) {}

  /// Whether a move of `node` only cuts a chain: elementwise readers of its rows stay, with which
  /// it would be one kernel, and no other work can follow, such as a product.
  bool is_cut_behind(const Node& node) { return !is_followed(node) && has_staying_reader(node); }

 private:
  static constexpr std::size_t kMaxNodes = 256;

  const Node& reader(const Use& use) const { return graph_.node(use.node); }

  /// Whether a value is a selection along the path, or would be one if elementwise nodes moved.
  bool could_be_selected(ValueId value) {
    if (!has_rows(graph_, value)) return true;
    const auto [known, is_new] = selected_.emplace(value, false);
    if (!is_new || selected_.size() > kMaxNodes) return known->second;
    const Node& node = graph_.producer(value);
    const bool could = node.has(Trait::selects_rows)
                           ? path_of(node) == path_
                           : node.has(Trait::elementwise) && could_move(node);
    return selected_[value] = could;
  }

  bool could_move(const Node& node) {
    return node.has(Trait::row_wise) && node.results.size() == 1 &&
           std::all_of(node.operands.begin(), node.operands.end(),
                       [this](ValueId operand) { return could_be_selected(operand); });
  }

  bool is_followed(const Node& node) {
    if (!followed_.insert(node.results[0]).second || followed_.size() > kMaxNodes) return false;
    const auto& uses = graph_.value(node.results[0]).uses;
    return std::any_of(uses.begin(), uses.end(), [this](const Use& use) {
      const Node& next = reader(use);
      return could_move(next) && (!next.has(Trait::elementwise) || is_followed(next));
    });
  }

  bool has_staying_reader(const Node& node) {
    if (!seen_.insert(node.results[0]).second || seen_.size() > kMaxNodes) return false;
    const auto& uses = graph_.value(node.results[0]).uses;
    return std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
      const Node& next = reader(use);
      return next.has(Trait::elementwise) &&
             graph_.value(next.results[0]).type.dims == graph_.value(node.results[0]).type.dims &&
             (!could_move(next) || has_staying_reader(next));
    });
  }

  const Graph& graph_;
  MapPath path_;
  std::map<ValueId, bool> selected_;
  std::set<ValueId> followed_, seen_;
};

bool cuts_chain(const Graph& graph, const Node& node) {
  return node.has(Trait::elementwise) &&
         MovingChain(graph, path_of(*common_selection(graph, node))).is_cut_behind(node);
}

/// Seconds by which cutting a chain lowers the gain of a move to `domain`: in a chain a node reads
/// and writes no rows of its own, and a part of it before the selections is one more kernel. A
/// kernel of the load program takes no time of a sentence.
double seconds_of_cut(const CostModel& model, const Cost& cost, DomainId from, DomainId domain) {
  if (model.graph.domain(domain).binding == BindingTime::load) return 0;
  const Cost in_chain{.flop = cost.flop};
  return model.seconds(cost, from) - model.seconds(in_chain, from) + model.kernel_seconds(domain);
}

// --- Selections ---

/// A move of a node past the first `crossed` maps of its path.
struct Move {
  std::size_t crossed = 0;
  DomainId domain;  ///< target domain of the node
  double seconds = 0;
};

/// The moves of a node that save time, fastest first.
struct Moves {
  double stay = 0;  ///< seconds without a move
  std::vector<Move> faster;
};

Moves moves_of(const CostModel& model, NodeId id) {
  const Graph& graph = model.graph;
  const Node& select = *common_selection(graph, graph.node(id));
  const MapPath path = path_of(select);
  const Cost cost = cost_of(graph, id);
  const Type& result = graph.value(graph.result(id)).type;
  const Type& operand = graph.value(select.results[0]).type;
  Moves moves{.stay = model.seconds(cost, result.domain) +
                      model.seconds(cost_of_reading(operand), result.domain)};
  const bool cuts = cuts_chain(graph, graph.node(id));
  for (std::size_t i = 1; i <= path.size(); ++i) {
    const DomainId domain = graph.map(path[i - 1]).to;
    const double seconds = model.seconds(cost, domain) +
                           model.seconds(cost_of_reading(result), result.domain) +
                           (cuts ? seconds_of_cut(model, cost, result.domain, domain) : 0);
    if (seconds < moves.stay) moves.faster.push_back({i, domain, seconds});
  }
  std::stable_sort(moves.faster.begin(), moves.faster.end(),
                   [](const Move& a, const Move& b) { return a.seconds < b.seconds; });
  return moves;
}

// --- Tables ---

bool makes_table(const Graph& graph, const Move& move) {
  return graph.domain(move.domain).kind == DomainKind::vocabulary;
}

/// A candidate table of a node's result.
struct Table {
  NodeId node;
  TableCost cost;
  double saved = 0;  ///< seconds per sentence, over the next best move
};

/// Memory of the table that the node reads now, if it is the only reader: the new table replaces
/// it.
double replaced_bytes(const Graph& graph, const Node& select) {
  const Value& table = graph.value(select.operands[0]);
  const Domain& domain = graph.domain(table.type.domain);
  const bool goes = domain.kind == DomainKind::vocabulary && table.uses.size() == 1 &&
                    graph.value(select.results[0]).uses.size() == 1 &&
                    !graph.node(table.producer).has(Trait::external);
  return goes ? static_cast<double>(domain.size) * static_cast<double>(row_bytes(table.type)) : 0;
}

/// Tables that would be made without a budget, by decreasing time saved per byte.
std::vector<Table> wished_tables(const CostModel& model) {
  std::vector<Table> tables;
  for (const NodeId id : model.graph.nodes()) {
    if (!common_selection(model.graph, model.graph.node(id))) continue;
    const Moves moves = moves_of(model, id);
    if (moves.faster.empty() || !makes_table(model.graph, moves.faster[0])) continue;
    const auto rows = static_cast<double>(model.graph.domain(moves.faster[0].domain).size);
    tables.push_back({id, table_cost(model.graph, id, rows, model.options.target)});
    tables.back().cost.bytes -=
        replaced_bytes(model.graph, *common_selection(model.graph, model.graph.node(id)));
    double otherwise = moves.stay;
    for (const Move& move : moves.faster)
      if (!makes_table(model.graph, move)) otherwise = std::min(otherwise, move.seconds);
    tables.back().saved = otherwise - moves.faster[0].seconds;
  }
  std::stable_sort(tables.begin(), tables.end(), [](const Table& a, const Table& b) {
    return a.saved * b.cost.bytes > b.saved * a.cost.bytes;
  });
  return tables;
}

/// The reason why a node's table exceeds the budget, given present tables and tables that save more
/// per byte; empty if it fits.
std::string refuse_table(const CostModel& model, NodeId id) {
  TableCost spent = present_tables(model.graph, model.options.target);
  for (const Table& table : wished_tables(model)) {
    TableCost total = spent;
    total += table.cost;
    const bool fits = total.bytes <= model.options.table_bytes &&
                      total.load_seconds <= model.options.load_seconds;
    if (fits) spent = total;
    if (table.node != id) continue;
    if (fits) return "";
    return fmt::format(
        "with its {:.1f} MB, tables would take {:.1f} of {:.1f} MB and {:.2f} of "
        "{:.2f} s to load",
        table.cost.bytes / 1e6, total.bytes / 1e6, model.options.table_bytes / 1e6,
        total.load_seconds, model.options.load_seconds);
  }
  return "";
}

/// Whether the last map that a move crosses is of a rule's kind.
using Crossing = bool (*)(const Graph&, const RowMap&);

/// Word maps, and maps of positions and distances to tables.
bool crosses_words(const Graph& graph, const RowMap& map) {
  return graph.domain(map.to).kind == DomainKind::vocabulary;
}
bool crosses_parents(const Graph& graph, const RowMap& map) {
  return graph.domain(map.from).kind == DomainKind::hypothesis && map.kind == MapKind::structural;
}
bool crosses_scan(const Graph& graph, const RowMap& map) {
  return graph.domain(map.from).kind == DomainKind::scan;
}
bool crosses_attended(const Graph&, const RowMap& map) { return map.kind == MapKind::right; }
bool crosses_other(const Graph& graph, const RowMap& map) {
  return !crosses_words(graph, map) && !crosses_parents(graph, map) && !crosses_scan(graph, map) &&
         !crosses_attended(graph, map);
}

/// The moves of one rule: they save time, and their last crossed map is of the rule's kind.
Moves moves_across(Crossing crossing, const CostModel& model, NodeId id) {
  const Graph& graph = model.graph;
  const MapPath path = path_of(*common_selection(graph, graph.node(id)));
  Moves moves = moves_of(model, id);
  std::erase_if(moves.faster, [&](const Move& move) {
    return !crossing(graph, graph.map(path[move.crossed - 1]));
  });
  return moves;
}

/// The options of a rule for a node.
struct Choice {
  Moves moves;  ///< across maps of the rule's kind
  /// The reason why no table may be made; empty if one may, or if none is wanted.
  std::string beyond_budget;
  std::optional<Move> best;  ///< the fastest move within the budget
};

Choice choose_move(Crossing crossing, const CostModel& model, NodeId id) {
  Choice choice{.moves = moves_across(crossing, model, id)};
  const std::vector<Move>& faster = choice.moves.faster;
  if (faster.empty() || makes_table(model.graph, faster.front()))
    choice.beyond_budget = refuse_table(model, id);
  for (const Move& move : faster)
    if (!choice.best && (!makes_table(model.graph, move) || choice.beyond_budget.empty()))
      choice.best = move;
  return choice;
}

std::optional<std::string> not_faster(const Match& match) {
  const Moves& moves = match.analysis<Choice>().moves;
  if (!moves.faster.empty()) return std::nullopt;
  return fmt::format("moved, it would take no less than the {:.2g} s a sentence that it takes here",
                     moves.stay);
}

std::optional<std::string> over_budget(const Match& match) {
  const Choice& choice = match.analysis<Choice>();
  if (choice.best) return std::nullopt;
  return choice.beyond_budget;
}

/// The operands of a node moved before its selections.
struct Operands {
  std::vector<ValueId> moved;
  std::vector<ValueId> of_default_row;  ///< empty: zeros give zeros
};

Operands before_selection(Rewriter& rewriter, const Node& node, const MapPath& inner,
                          bool default_stays_outside) {
  const Graph& graph = rewriter.graph();
  Operands operands{node.operands, node.operands};
  bool zeros_give_zeros = node.has(Trait::linear) && has_rows(graph, node.operands[0]);
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    if (!has_rows(graph, node.operands[i])) continue;
    const std::vector<ValueId> selected = graph.producer(node.operands[i]).operands;
    const bool has_default = selected.size() > 1;
    operands.moved[i] = selected[0];
    if (!inner.empty()) {
      std::vector<ValueId> kept{selected[0]};
      if (!default_stays_outside && has_default) kept.push_back(selected[1]);
      operands.moved[i] = rewriter.add(op::SelectRows{.via = inner}, std::move(kept));
    }
    if (!default_stays_outside) continue;
    if (has_default) {
      operands.of_default_row[i] = selected[1];
      zeros_give_zeros = false;
    } else if (!zeros_give_zeros) {
      const Dims dims = graph.value(node.operands[i]).type.dims;
      operands.of_default_row[i] = rewriter.add(op::Constant{.values = {0}, .dims = dims});
    }
  }
  if (zeros_give_zeros || !default_stays_outside) operands.of_default_row.clear();
  return operands;
}

void move_past_selection(Rewriter& rewriter, const Match& match, const Move& move) {
  const Graph& graph = match.graph();
  const Node& node = match.root_node();
  const MapPath path = path_of(*common_selection(graph, node));
  const auto crossed = static_cast<std::ptrdiff_t>(move.crossed);
  const MapPath outer(path.begin(), path.begin() + crossed);
  const MapPath inner(path.begin() + crossed, path.end());
  const bool default_stays_outside = graph.is_partial(outer);

  Operands operands = before_selection(rewriter, node, inner, default_stays_outside);
  std::vector<ValueId> selected{rewriter.apply(node, std::move(operands.moved))};
  if (!operands.of_default_row.empty())
    selected.push_back(rewriter.apply(node, std::move(operands.of_default_row)));
  rewriter.replace(match.result(), rewriter.add(op::SelectRows{.via = outer}, std::move(selected)));
}

/// A rule that moves a node past the selections that feed it. A table costs sentences no time, so
/// only the budget limits it; all other moves must save time.
Rule past_selection(std::string name, Crossing crossing, const CommuteOptions& options) {
  const auto crosses = [crossing](const Graph& graph, const Node& node) {
    const Node* select = common_selection(graph, node);
    if (!select) return false;
    const MapPath path = path_of(*select);
    return std::any_of(path.begin(), path.end(),
                       [&](MapId id) { return crossing(graph, graph.map(id)); });
  };
  const auto analyze = [crossing, options](const Match& match) -> std::any {
    return choose_move(crossing, {match.graph(), options}, match.root());
  };
  const auto build = [](Rewriter& rewriter, const Match& match) {
    const std::optional<Move> move = match.analysis<Choice>().best;
    check(move.has_value(), "commute_rows: a guard that passed found a move");
    move_past_selection(rewriter, match, *move);
  };
  return {.name = std::move(name),
          .pattern = match::node(crosses),
          .analyze = analyze,
          .guards = {crossing == crosses_words ? Guard{"budget", over_budget}
                                               : Guard{"faster", not_faster}},
          .build = build};
}

// --- Mixtures ---

/// The mixture that is the first operand of a linear node, if no other operand has rows. Mixtures
/// are of vectors, so the node must give vectors.
const Node* mixture(const Graph& graph, const Node& node) {
  if (!node.has(Trait::row_wise) || !node.has(Trait::linear) || node.results.size() != 1 ||
      graph.value(node.results[0]).type.dims.size() != 1)
    return nullptr;
  for (std::size_t i = 1; i < node.operands.size(); ++i)
    if (has_rows(graph, node.operands[i])) return nullptr;
  const Node& mix = graph.producer(node.operands[0]);
  return mix.has(Trait::mixes_rows) && mix.has<op::Via>() ? &mix : nullptr;
}

std::optional<std::string> mixes_several_heads(const Match& match) {
  return several_heads(match.graph(), mixture(match.graph(), match.root_node())->operands[0]);
}

std::optional<std::string> mixing_not_cheaper(const Match& match, const CommuteOptions& options) {
  const Graph& graph = match.graph();
  const Node& mix = *mixture(graph, match.root_node());
  const CostModel model{graph, options};
  const Cost cost = cost_of(graph, match.root());
  const DomainId pairs = graph.value(mix.operands[0]).type.domain;
  const Type& mixed = graph.value(mix.operands[1]).type;
  // Other users keep the mixture alive.
  const bool goes = graph.value(mix.results[0]).uses.size() == 1;
  const double stay = model.seconds(cost, match.result_type().domain) +
                      (goes ? model.seconds(cost_of_mixing(mixed), pairs) : 0);
  const double move =
      model.seconds(cost, mixed.domain) + model.seconds(cost_of_mixing(match.result_type()), pairs);
  if (move < stay) return std::nullopt;
  return fmt::format("it would take {:.2g} s a sentence before the mixture, {:.2g} behind it", move,
                     stay);
}

void move_past_mixture(Rewriter& rewriter, const Match& match) {
  const Node& node = match.root_node();
  const Node& mix = *mixture(match.graph(), node);
  std::vector<ValueId> operands = node.operands;
  operands[0] = mix.operands[1];
  const ValueId moved = rewriter.apply(node, std::move(operands));
  rewriter.replace(match.result(), rewriter.apply(mix, {mix.operands[0], moved}));
}

Rule past_mixture(const CommuteOptions& options) {
  return {
      .name = "attention",
      .pattern = match::node(
          [](const Graph& graph, const Node& node) { return mixture(graph, node) != nullptr; }),
      .guards = {{"one_head", mixes_several_heads},
                 {"faster",
                  [options](const Match& match) { return mixing_not_cheaper(match, options); }}},
      .numerics = {NumericClass::reassociates, 1e-4, "the order of a sum of products"},
      .build = move_past_mixture};
}

}  // namespace

Pass commute_rows(const CommuteOptions& options) {
  return {.name = "commute_rows",
          .rules = {past_selection("embeddings", crosses_words, options),
                    past_selection("merge_states", crosses_parents, options),
                    past_selection("input_projections", crosses_scan, options),
                    past_selection("caches", crosses_attended, options),
                    past_selection("hoist", crosses_other, options),
                    past_mixture(for_rounding(options))}};
}

}  // namespace fuselage
