#include "passes/fuse_pointwise.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "passes/formulas.h"

namespace fuselage {
namespace {

/// Steps that one node may have: more than any cell, and little enough to be read.
constexpr std::size_t kMaxSteps = 128;

bool is_elementwise(const Graph&, const Node& node) { return node.has(Trait::elementwise); }

// --- Chains ---

std::optional<std::string> other_rows(const Match& match) {
  const Graph& graph = match.graph();
  const DomainId inner = match.type("inner").domain;
  if (inner == match.result_type().domain) return std::nullopt;
  return fmt::format("{} is {} and would be computed again for the rows of {}",
                     graph.describe(match.node("inner")), graph.show(match.type("inner")),
                     graph.show(match.result_type()));
}

std::optional<std::string> other_width(const Match& match) {
  const Type& inner = match.type("inner");
  if (inner.dims == match.result_type().dims) return std::nullopt;
  return fmt::format("{} is {}, not as wide as {}", match.graph().describe(match.node("inner")),
                     match.graph().show(inner), match.graph().show(match.result_type()));
}

std::optional<std::string> too_long(const Match& match) {
  const Graph& graph = match.graph();
  const std::size_t steps = bind_formula(graph, match.root_node()).formula.steps.size() +
                            bind_formula(graph, match.node("inner")).formula.steps.size();
  if (steps <= kMaxSteps) return std::nullopt;
  return fmt::format("one node would have {} steps, more than {}", steps, kMaxSteps);
}

/// True when something else than the root that reads the inner node leads to the root.
bool leads_to_root(const Match& match) {
  const Graph& graph = match.graph();
  std::vector<NodeId> open;
  std::set<NodeId> seen;
  const auto add_users = [&](const Node& node) {
    for (const ValueId result : node.results)
      for (const Use& use : graph.value(result).uses)
        if (seen.insert(use.node).second) open.push_back(use.node);
  };
  seen.insert(match.root());
  add_users(match.node("inner"));
  while (!open.empty()) {
    const Node& node = graph.node(open.back());
    open.pop_back();
    for (const ValueId operand : match.root_node().operands)
      if (std::find(node.results.begin(), node.results.end(), operand) != node.results.end())
        return true;
    add_users(node);
  }
  return false;
}

std::optional<std::string> in_a_cycle(const Match& match) {
  if (!leads_to_root(match)) return std::nullopt;
  return fmt::format("other users of {} come before it",
                     match.graph().describe(match.node("inner")));
}

void fuse_chain(Rewriter& rewriter, const Match& match) {
  const Graph& graph = match.graph();
  // Copies, since adding nodes moves those there are.
  const Node root = match.root_node();
  const Node inner = match.node("inner");
  std::vector<ValueId> kept;
  for (const ValueId result : inner.results) {
    const auto& uses = graph.value(result).uses;
    if (graph.is_output(result) || std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
          return use.node != match.root();
        }))
      kept.push_back(result);
  }
  const BoundFormula whole = inline_formula(graph, bind_formula(graph, root), inner, kept);
  const NodeId fused =
      rewriter.add_node("pointwise", whole.operands, {{"formula", print_formula(whole.formula)}});
  std::vector<ValueId> replaced = root.results;
  replaced.insert(replaced.end(), kept.begin(), kept.end());
  for (std::size_t i = 0; i < replaced.size(); ++i)
    rewriter.replace(replaced[i], graph.result(fused, i));
}

// --- Slices ---

/// All that reads the chain are slices of different columns.
std::optional<std::string> not_only_slices(const Match& match) {
  const Graph& graph = match.graph();
  const Value& chain = graph.value(match["chain"]);
  if (graph.is_output(match["chain"])) return "the whole value is an output of the graph";
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  for (const Use& use : chain.uses) {
    const Node& user = graph.node(use.node);
    if (user.op != match.root_node().op)
      return fmt::format("{} reads the whole value", graph.describe(use.node));
    ranges.emplace_back(user.attr<std::int64_t>("begin"), user.attr<std::int64_t>("end"));
  }
  std::sort(ranges.begin(), ranges.end());
  for (std::size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first < ranges[i - 1].second)
      return fmt::format("columns {} to {} would be computed twice", ranges[i].first,
                         ranges[i - 1].second);
  return std::nullopt;
}

void narrow_chain(Rewriter& rewriter, const Match& match) {
  const Graph& graph = match.graph();
  // Copies, since adding nodes moves those there are.
  const Node slice = match.root_node();    // NOLINT(performance-unnecessary-copy-initialization)
  const Node chain = match.node("chain");  // NOLINT(performance-unnecessary-copy-initialization)
  std::vector<ValueId> operands = chain.operands;
  for (ValueId& operand : operands)
    if (row_size(graph.value(operand).type) != 1)
      operand = rewriter.add(
          "slice", {operand},
          {{"begin", slice.attr<std::int64_t>("begin")}, {"end", slice.attr<std::int64_t>("end")}});
  std::vector<std::pair<std::string_view, Attr>> attrs;
  for (std::size_t i = 0; i < chain.attrs.size(); ++i)
    attrs.emplace_back(chain.op->attributes[i].name, chain.attrs[i]);
  rewriter.replace(match.result(), rewriter.add(chain.op->name, std::move(operands), attrs));
}

Rule narrow() {
  const auto vector_chain = [](const Graph& graph, const Node& node) {
    return node.has(Trait::elementwise) && node.results.size() == 1 &&
           graph.value(node.results[0]).type.dims.size() == 1;
  };
  // One element stands for all columns of the others, and so could not be told from them.
  const auto several_columns = [](const Graph& graph, const Node& node) {
    return row_size(graph.value(node.results[0]).type) > 1;
  };
  return {.name = "narrow",
          .pattern = match::op("slice", {match::node(vector_chain).named("chain").shared()})
                         .where(several_columns),
          .guards = {{"only_slices", not_only_slices}},
          .build = narrow_chain};
}

Rule chain() {
  return {
      .name = "chain",
      .pattern =
          match::node(is_elementwise).having(match::node(is_elementwise).named("inner").shared()),
      .guards = {{"same_rows", other_rows},
                 {"same_width", other_width},
                 {"size", too_long},
                 {"acyclic", in_a_cycle}},
      .build = fuse_chain};
}

}  // namespace

Pass fuse_pointwise() { return {.name = "fuse_pointwise", .rules = {narrow(), chain()}}; }

}  // namespace fuselage
