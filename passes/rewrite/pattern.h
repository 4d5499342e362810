#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace fuselage {

/// Where a pattern was found: its root, the values that it captured by name, and the nodes that it
/// covers. Once the graph is edited only the ids hold.
class Match {
 public:
  Match(const Graph& graph, NodeId root) : graph_(&graph), root_(root) {}

  const Graph& graph() const { return *graph_; }
  NodeId root() const { return root_; }
  const Node& root_node() const { return graph_->node(root_); }
  /// The root's first result.
  ValueId result() const { return graph_->result(root_); }
  const Type& result_type() const { return graph_->value(result()).type; }

  /// A captured value; an internal error when the pattern has no such name.
  ValueId operator[](std::string_view name) const;
  const Type& type(std::string_view name) const { return graph_->value((*this)[name]).type; }
  /// The node that makes a captured value.
  const Node& node(std::string_view name) const { return graph_->producer((*this)[name]); }

  /// The nodes that op patterns cover, root first.
  const std::vector<NodeId>& nodes() const { return nodes_; }
  /// Those of them that the rewrite takes over, so that nobody else may use them.
  const std::vector<NodeId>& consumed() const { return consumed_; }

 private:
  friend class Pattern;
  const Graph* graph_;
  NodeId root_;
  std::vector<std::pair<std::string, ValueId>> captures_;
  std::vector<NodeId> nodes_;
  std::vector<NodeId> consumed_;
};

/// A test on a node that is no matter of ops and operands.
using NodePredicate = std::function<bool(const Graph&, const Node&)>;

/// The shape of a part of a graph, seen from its last node. Patterns are made by the functions in
/// `match` and refined by chained calls:
///
///     match::op("slice", {match::op("concat").named("parts").shared()})
///
/// Whether inner nodes have other users is no matter of the pattern: rules refuse those with a
/// reason, save for nodes that are declared shared().
class Pattern {
 public:
  /// Captures the value, or the node's first result. The same name twice asks for the same value.
  Pattern named(std::string name) &&;
  /// Lets the matched inner node have other users: the rewrite reads past it and leaves it there.
  Pattern shared() &&;
  /// Takes the two operands in either order.
  Pattern commutative() &&;
  /// Takes further operands than those listed.
  Pattern variadic() &&;
  /// Asks that some operand, wherever it stands, fits `operand`.
  Pattern having(Pattern operand) &&;
  /// Asks that a node passes a test.
  Pattern where(NodePredicate test) &&;

  /// Ops that the root may be; empty: any.
  const std::vector<std::string_view>& root_ops() const { return ops_; }
  /// Number of nodes on the longest path from the root to something matched.
  std::size_t depth() const;
  /// True when some inner node is to be taken over.
  bool consumes_inner() const;

  /// All ways in which the pattern fits at `root`.
  std::vector<Match> find(const Graph& graph, NodeId root) const;

 private:
  friend Pattern make_leaf();
  friend Pattern make_node(std::vector<std::string_view>, std::optional<std::vector<Pattern>>);

  bool fits_node(const Graph& graph, const Node& node) const;
  /// Extends each of `partial` by this pattern at `value`; what does not fit falls away.
  std::vector<Match> extend_by_value(const Match& partial, ValueId value) const;
  std::vector<Match> extend_by_node(Match partial, NodeId id) const;
  std::vector<Match> extend_in_order(const Match& partial,
                                     const std::vector<ValueId>& operands) const;
  bool capture(Match& match, ValueId value) const;

  bool leaf_ = true;  ///< fits any value that passes the tests and covers no node
  std::vector<std::string_view> ops_;
  std::optional<std::vector<Pattern>> operands_;
  std::vector<Pattern> having_;
  std::vector<NodePredicate> tests_;
  std::string name_;
  bool shared_ = false;
  bool commutative_ = false;
  bool variadic_ = false;
};

namespace match {

/// Any value.
Pattern any(std::string name);
/// A result of an op; without a list, its operands may be anything.
Pattern op(std::string_view op);
Pattern op(std::string_view op, std::vector<Pattern> operands);
/// A result of one of several ops.
Pattern one_of(std::vector<std::string_view> ops);
Pattern one_of(std::vector<std::string_view> ops, std::vector<Pattern> operands);
/// A result of any op that passes a test.
Pattern node(NodePredicate test);
/// A constant.
Pattern constant(std::string name);
/// A constant whose elements all are this number, with this sign of zero.
Pattern number(double number);

}  // namespace match

bool is_constant(const Node& node);
/// The same, and all elements have the bits of `number` as f32.
bool is_constant(const Node& node, double number);

}  // namespace fuselage
