#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/graph/graph.h"
#include "fuselage/ops/registry.h"

namespace FUSELAGE_API fuselage {

/// The only interface through which passes edit a graph. Edits are grouped into rewrites: begin()
/// names the rule and the matched nodes, finish() removes nodes left without users. New nodes
/// inherit provenance and location from the matched nodes.
class Rewriter {
 public:
  explicit Rewriter(Graph& graph) : graph_(graph) {}
  Rewriter(const Rewriter&) = delete;
  Rewriter& operator=(const Rewriter&) = delete;

  const Graph& graph() const { return graph_; }

  /// Starts a rewrite by `rule` of the nodes `matched`, its root first.
  void begin(std::string_view rule, std::span<const NodeId> matched);
  /// Adds a node to the matched nodes of the current rewrite.
  void include(NodeId id);
  /// Ends the rewrite and removes nodes that lost their last user in it; returns whether it edited
  /// the graph.
  bool finish();

  /// Adds a node. Throws Error if operands or attributes are invalid.
  template <OpStruct Op>
  NodeId add_node(const Op& op, std::vector<ValueId> operands = {}) {
    return add_node(op_def<Op>(), std::move(operands), attribute_values(op));
  }
  /// The same; returns the first result.
  template <OpStruct Op>
  ValueId add(const Op& op, std::vector<ValueId> operands = {}) {
    return graph_.result(add_node(op, std::move(operands)));
  }
  /// Adds a copy of `node` with other operands.
  NodeId clone(const Node& node, std::vector<ValueId> operands) {
    return clone(node, std::move(operands), AttrList{});
  }
  /// The same; returns the first result.
  ValueId apply(const Node& node, std::vector<ValueId> operands) {
    return graph_.result(clone(node, std::move(operands)));
  }
  /// As clone(), with a changed group of attributes.
  template <AttrStruct S>
  NodeId clone(const Node& node, std::vector<ValueId> operands, const S& changed) {
    return clone(node, std::move(operands), attribute_values(changed));
  }
  /// Declares a pairs domain.
  DomainId add_pairs(std::string name, DomainId left, DomainId right);
  /// Replaces `from` by `to`, of the same type, in every use and output. An unnamed `to` gets the
  /// name of `from`.
  void replace(ValueId from, ValueId to);
  /// Replaces one operand; the node's result types must not change.
  void set_operand(Use use, ValueId value);
  /// Adds the matched nodes to the provenance of `kept`, which replaces them.
  void absorb_matched(NodeId kept);
  /// Removes a node without users: a sink or dead code.
  void remove(NodeId id);

  /// Number of edits since the beginning.
  std::size_t changes() const { return changes_; }
  /// Number of rewrites with edits, by rule.
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
  Provenance provenance_;  ///< of new nodes in this rewrite, without the rule
  Location location_;
  std::vector<NodeId> perhaps_dead_;
  std::vector<NodeId> touched_;
  std::size_t changes_ = 0;
  std::size_t changes_at_begin_ = 0;
  std::map<std::string, std::size_t> rewrites_;
};

/// The names of the user's nodes that a node replaces: its origins; for a user's node its own name,
/// or "op#index" if it is unnamed.
std::vector<std::string> origins_of(const Graph& graph, NodeId id);

}  // namespace fuselage
