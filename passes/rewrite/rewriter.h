#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "ops/registry.h"

namespace fuselage {

/// The only way in which a pass edits a graph. Edits come in rewrites: begin() says which rule
/// works on which nodes, finish() clears away what the rewrite left without users. New nodes
/// inherit the provenance and the location of the nodes that they stand for.
class Rewriter {
 public:
  explicit Rewriter(Graph& graph) : graph_(graph) {}
  Rewriter(const Rewriter&) = delete;
  Rewriter& operator=(const Rewriter&) = delete;

  const Graph& graph() const { return graph_; }

  /// Starts a rewrite by `rule` of the nodes `matched`, its root first.
  void begin(std::string_view rule, std::span<const NodeId> matched);
  /// Counts another node among those that the rewrite works on.
  void include(NodeId id);
  /// Ends it and removes nodes that lost their last user in it; true if the rewrite edited
  /// anything.
  bool finish();

  /// Adds a node. Throws Error when operands or attributes do not fit.
  template <OpStruct Op>
  NodeId add_node(const Op& op, std::vector<ValueId> operands = {}) {
    return add_node(op_def<Op>(), std::move(operands), attribute_values(op));
  }
  /// The same; returns the first result.
  template <OpStruct Op>
  ValueId add(const Op& op, std::vector<ValueId> operands = {}) {
    return graph_.result(add_node(op, std::move(operands)));
  }
  /// Adds a node of the op of `node` with its attributes and other operands.
  NodeId clone(const Node& node, std::vector<ValueId> operands) {
    return clone(node, std::move(operands), AttrList{});
  }
  /// The same; returns the first result.
  ValueId apply(const Node& node, std::vector<ValueId> operands) {
    return graph_.result(clone(node, std::move(operands)));
  }
  /// As clone(), with a group of attributes changed.
  template <AttrStruct S>
  NodeId clone(const Node& node, std::vector<ValueId> operands, const S& changed) {
    return clone(node, std::move(operands), attribute_values(changed));
  }
  /// Declares the pairs of two domains.
  DomainId add_pairs(std::string name, DomainId left, DomainId right);
  /// Puts `to`, of the same type, in the place of `from` in every use and output. A `to` without a
  /// name gets the name of `from`.
  void replace(ValueId from, ValueId to);
  /// Exchanges one operand; the types of the node's results must stay as they are.
  void set_operand(Use use, ValueId value);
  /// Lets `kept` stand for the matched nodes too, as when it takes the place of an equal node.
  void absorb_matched(NodeId kept);
  /// Removes a node that nothing uses: a sink, or what is dead.
  void remove(NodeId id);

  /// Number of edits since the beginning.
  std::size_t changes() const { return changes_; }
  /// How many rewrites of each rule edited something.
  const std::map<std::string, std::size_t>& rewrites() const { return rewrites_; }
  /// Live nodes whose operands or users changed since the last call, each once, in order of id.
  std::vector<NodeId> take_touched();

 private:
  NodeId add_node(const OpDef& op, std::vector<ValueId> operands, const AttrList& attrs);
  NodeId clone(const Node& node, std::vector<ValueId> operands, const AttrList& changed);
  void touch(NodeId id) { touched_.push_back(id); }
  /// Edits a live node's provenance to name the matched nodes and the rule.
  void mark(NodeId id);
  void remove_if_dead(NodeId id);

  Graph& graph_;
  bool open_ = false;
  std::string rule_;
  Provenance provenance_;  ///< of what the present rewrite makes, but for its rule
  Location location_;
  std::vector<NodeId> perhaps_dead_;
  std::vector<NodeId> touched_;
  std::size_t changes_ = 0;
  std::size_t changes_at_begin_ = 0;
  std::map<std::string, std::size_t> rewrites_;
};

/// The names of the user's nodes that a node stands for: its origins, or its own name if it is the
/// user's, or "op#index" when that has none.
std::vector<std::string> origins_of(const Graph& graph, NodeId id);

}  // namespace fuselage
