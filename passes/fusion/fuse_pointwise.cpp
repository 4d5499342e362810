#include "passes/fusion/fuse_pointwise.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fuselage/ops/fused.h"
#include "graph/schedule.h"
#include "passes/fusion/elementwise.h"

namespace fuselage {
namespace {

constexpr Capture kInner{"inner"};

/// Maximum steps of one node: more than any cell has, and still readable.
constexpr std::size_t kMaxSteps = 128;

std::optional<std::string> other_rows(const Match& match) {
  const Graph& graph = match.graph();
  const DomainId inner = match.type(kInner).domain;
  if (inner == match.result_type().domain) return std::nullopt;
  return fmt::format("{} is {} and would be computed again for the rows of {}",
                     graph.describe(match.node(kInner)), graph.show(match.type(kInner)),
                     graph.show(match.result_type()));
}

std::optional<std::string> other_width(const Match& match) {
  const Type& inner = match.type(kInner);
  if (inner.dims == match.result_type().dims) return std::nullopt;
  return fmt::format("{} is {}, not as wide as {}", match.graph().describe(match.node(kInner)),
                     match.graph().show(inner), match.graph().show(match.result_type()));
}

std::optional<std::string> without_row_function(const Match& match) {
  if (auto reason = refuse_in_chain(match.graph(), match.root_node())) return reason;
  return refuse_in_chain(match.graph(), match.node(kInner));
}

std::optional<std::string> too_long(const Match& match) {
  // Guards are independent, and this one needs expressions.
  if (without_row_function(match)) return std::nullopt;
  const Graph& graph = match.graph();
  const std::size_t steps = bind_expression(graph, match.root_node()).expression.steps.size() +
                            bind_expression(graph, match.node(kInner)).expression.steps.size();
  if (steps <= kMaxSteps) return std::nullopt;
  return fmt::format("one node would have {} steps, more than {}", steps, kMaxSteps);
}

/// The nodes that run after a node. A scan runs as a whole: after one of its nodes, all follow.
class Followers {
 public:
  explicit Followers(const Graph& graph) : graph_(graph), seen_(graph.node_limit()) {}

  /// Leaves out `id` and the nodes that follow only by it or by its scan.
  void exclude(NodeId id) {
    seen_[id.index] = true;
    scans_.insert(scan_of(graph_, id));
  }

  void add_users(const Node& node) {
    for (const ValueId result : node.results)
      for (const Use& use : graph_.value(result).uses) add(use.node);
  }

  /// The next follower; invalid after the last one.
  NodeId next() {
    if (open_.empty()) return {};
    const NodeId id = open_.back();
    open_.pop_back();
    add_users(graph_.node(id));
    return id;
  }

 private:
  void add(NodeId id) {
    if (seen_[id.index]) return;
    seen_[id.index] = true;
    open_.push_back(id);
    const DomainId scan = scan_of(graph_, id);
    if (!scan.valid() || !scans_.insert(scan).second) return;
    for (const NodeId other : graph_.nodes())
      if (scan_of(graph_, other) == scan) add(other);
  }

  const Graph& graph_;
  std::vector<bool> seen_;
  std::vector<NodeId> open_;
  std::set<DomainId> scans_;
};

/// Whether another user of the inner node leads to the root: fusion would make a cycle.
bool leads_to_root(const Match& match) {
  const auto& operands = match.root_node().operands;
  Followers followers(match.graph());
  followers.exclude(match.root());
  followers.add_users(match.node(kInner));
  for (NodeId id = followers.next(); id.valid(); id = followers.next())
    for (const ValueId result : match.graph().node(id).results)
      if (std::find(operands.begin(), operands.end(), result) != operands.end()) return true;
  return false;
}

std::optional<std::string> in_a_cycle(const Match& match) {
  if (!leads_to_root(match)) return std::nullopt;
  return fmt::format("other users of {} come before it",
                     match.graph().describe(match.node(kInner)));
}

void fuse_chain(Rewriter& rewriter, const Match& match) {
  const Graph& graph = match.graph();
  const Node& root = match.root_node();
  const Node& inner = match.node(kInner);
  std::vector<ValueId> kept;
  for (const ValueId result : inner.results) {
    const auto& uses = graph.value(result).uses;
    if (graph.is_output(result) || std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
          return use.node != match.root();
        }))
      kept.push_back(result);
  }
  const BoundExpression whole = inline_expression(graph, bind_expression(graph, root), inner, kept);
  const NodeId fused = rewriter.add_node(
      op::Pointwise{.expression = print_expression(whole.expression)}, whole.operands);
  std::vector<ValueId> replaced = root.results;
  replaced.insert(replaced.end(), kept.begin(), kept.end());
  for (std::size_t i = 0; i < replaced.size(); ++i)
    rewriter.replace(replaced[i], graph.result(fused, i));
}

Rule chain() {
  return {
      .name = "chain",
      .pattern =
          match::node(is_elementwise).having(match::node(is_elementwise).named(kInner).shared()),
      .guards = {{"same_rows", other_rows},
                 {"same_width", other_width},
                 {"row_function", without_row_function},
                 {"size", too_long},
                 {"acyclic", in_a_cycle}},
      .build = fuse_chain};
}

}  // namespace

Pass fuse_pointwise() { return {.name = "fuse_pointwise", .rules = {chain()}}; }

}  // namespace fuselage
