#pragma once

#include <any>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/graph/graph.h"
#include "fuselage/ops/registry.h"
#include "fuselage/ops/structure/shape.h"

namespace FUSELAGE_API fuselage {

/// A name for a captured value. Pattern, guards and builder of a rule share the object, so a
/// misspelt capture does not compile. Declare it as a constant of a namespace: copies are the same
/// capture, but two constants with the same text are two captures.
struct Capture {
  constexpr explicit Capture(std::string_view text) : name(text), identity(this) {}

  friend constexpr bool operator==(const Capture& a, const Capture& b) {
    return a.identity == b.identity;
  }

  std::string_view name;
  const Capture* identity;  ///< the constant; not to be followed
};

class Match;

/// Analyzes a match, for guards and builder; see Rule::analyze.
using Analyze = std::function<std::any(const Match&)>;

/// A match of a pattern: its root, captured values and covered nodes. After an edit of the graph
/// only the ids are valid.
class Match {
 public:
  Match(const Graph& graph, NodeId root) : graph_(&graph), root_(root) {}

  const Graph& graph() const { return *graph_; }
  NodeId root() const { return root_; }
  const Node& root_node() const { return graph_->node(root_); }
  /// The root's first result.
  ValueId result() const { return graph_->result(root_); }
  const Type& result_type() const { return graph_->value(result()).type; }

  /// A captured value; an internal error if the pattern does not capture it.
  ValueId operator[](Capture capture) const;
  const Type& type(Capture capture) const { return graph_->value((*this)[capture]).type; }
  /// The node that produces a captured value.
  const Node& node(Capture capture) const { return graph_->producer((*this)[capture]); }

  /// The result of the rule's analysis, of type `T`; computed on first use.
  template <typename T>
  const T& analysis() const {
    return *std::any_cast<T>(&analyzed());
  }

  /// The nodes covered by op patterns, root first.
  const std::vector<NodeId>& nodes() const { return nodes_; }
  /// The covered nodes that the rewrite consumes, so that nothing else may use them.
  const std::vector<NodeId>& consumed() const { return consumed_; }

 private:
  friend class Pattern;
  friend std::vector<Match> find_matches(const struct Rule&, const Graph&, NodeId);
  const std::any& analyzed() const;

  const Graph* graph_;
  NodeId root_;
  const Analyze* analyze_ = nullptr;
  mutable std::any analysis_;
  std::vector<std::pair<Capture, ValueId>> captures_;
  std::vector<NodeId> nodes_;
  std::vector<NodeId> consumed_;
};

/// A test on a node beyond its op and operands.
using NodePredicate = std::function<bool(const Graph&, const Node&)>;

/// The shape of a subgraph that ends in a root node. Patterns are made by the functions in `match`
/// and refined by chained calls:
///
///     match::op<op::Slice>({match::op<op::Concat>().named(kParts).shared()})
///
/// A pattern does not restrict the users of inner nodes; the guard single_use() does, except for
/// nodes declared shared().
class Pattern {
 public:
  Pattern();
  Pattern(const Pattern&);
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(const Pattern&);
  Pattern& operator=(Pattern&&) noexcept;
  ~Pattern();

  /// Captures the value, or the node's first result. Repeating a capture requires the same value.
  Pattern named(Capture capture) &&;
  /// The matched inner node may have other users: the rewrite leaves it in place.
  Pattern shared() &&;
  /// The two operands match in either order.
  Pattern commutative() &&;
  /// Further operands may follow the listed ones.
  Pattern variadic() &&;
  /// Some operand, at any position, must match `operand`.
  Pattern having(Pattern operand) &&;
  /// The node must pass a test.
  Pattern where(NodePredicate test) &&;

  /// Allowed ops of the root; empty: any.
  const std::vector<const OpDef*>& root_ops() const { return ops_; }
  /// All captures; a repeated one is repeated here.
  std::vector<Capture> captures() const;
  /// Number of nodes on the longest path from the root to a matched value.
  std::size_t depth() const;
  /// Whether the rewrite consumes some inner node.
  bool consumes_inner() const;

  /// All matches of the pattern at `root`.
  std::vector<Match> find(const Graph& graph, NodeId root) const;

 private:
  friend Pattern make_leaf();
  friend Pattern make_node(std::vector<const OpDef*>, std::optional<std::vector<Pattern>>);

  bool fits_node(const Graph& graph, const Node& node) const;
  /// The matches of this pattern at `value` that extend `partial`.
  std::vector<Match> extend_by_value(const Match& partial, ValueId value) const;
  std::vector<Match> extend_by_node(Match partial, NodeId id) const;
  std::vector<Match> extend_in_order(const Match& partial,
                                     const std::vector<ValueId>& operands) const;
  bool capture(Match& match, ValueId value) const;
  void add_captures(std::vector<Capture>& captures) const;

  bool leaf_ = true;  ///< matches any value that passes the tests and covers no node
  std::vector<const OpDef*> ops_;
  std::optional<std::vector<Pattern>> operands_;
  std::vector<Pattern> having_;
  std::vector<NodePredicate> tests_;
  std::optional<Capture> capture_;
  bool shared_ = false;
  bool commutative_ = false;
  bool variadic_ = false;
};

Pattern make_node(std::vector<const OpDef*> ops, std::optional<std::vector<Pattern>> operands);

namespace match {

/// Any value.
Pattern any(Capture capture);
/// A result of one of the ops declared by Ops; without a list of operands any operands match.
template <OpStruct... Ops>
Pattern op() {
  return make_node({&op_def<Ops>()...}, std::nullopt);
}
template <OpStruct... Ops>
Pattern op(std::vector<Pattern> operands) {
  return make_node({&op_def<Ops>()...}, std::move(operands));
}
/// A result of any node that passes a test; without a list of operands any operands match.
Pattern node(NodePredicate test);
Pattern node(NodePredicate test, std::vector<Pattern> operands);
/// A constant.
Pattern constant(Capture capture);
/// A constant with all elements equal to `number`, including the sign of zero.
Pattern number(double number);

}  // namespace match

bool is_constant(const Node& node);
/// The same, and all elements equal `number` as f32 bit for bit.
bool is_constant(const Node& node, double number);

}  // namespace fuselage
