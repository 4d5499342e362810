#include "passes/cleanup/merge_common_subexpressions.h"

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <utility>

#include "graph/traversal.h"

namespace fuselage {
namespace {

/// Partitions nodes into classes of equal value. Initially a class holds all nodes with the same op
/// and attributes; classes are split until the operands of their members, and the next values of
/// states, are in the same classes. Starting from the coarsest partition finds equal states, which
/// depend on themselves.
class Classes {
 public:
  explicit Classes(const Graph& graph) : graph_(graph), order_(topological_order(graph)) {
    class_of_.resize(graph.node_limit());
    next_value_.resize(graph.node_limit());
    for (const NodeId id : order_)
      if (graph.node(id).has(Trait::loop_next)) {
        const Node& next = graph.node(id);
        next_value_[graph.value(next.operands[0]).producer.index] = next.operands[1];
      }
    split([this](NodeId id) { return description(id); });
    std::size_t count = 0;
    for (std::size_t before = SIZE_MAX; count != before;) {
      before = count;
      previous_ = class_of_;
      count = split([this](NodeId id) { return signature(id); });
    }
  }

  std::size_t operator[](NodeId id) const { return class_of_[id.index]; }
  const std::vector<NodeId>& order() const { return order_; }

 private:
  using Key = std::pair<std::size_t, std::size_t>;  ///< of a value: class and number of the result

  /// Assigns a class number to each distinct key; returns the number of classes. Numbers follow the
  /// topological order, so they do not depend on ids. A key reads the new classes of operands, so
  /// that without states one round splits chains of any length.
  template <typename KeyOf>
  std::size_t split(KeyOf key_of) {
    std::map<decltype(key_of(NodeId{})), std::size_t> numbers;
    for (const NodeId id : order_)
      class_of_[id.index] = numbers.emplace(key_of(id), numbers.size()).first->second;
    return numbers.size();
  }

  /// Op, attributes and types. Real numbers are compared by their bits, so 0 differs from -0. Types
  /// are included because a commutative op may take the dimensions of its result from one operand.
  std::string description(NodeId id) const {
    const Node& node = graph_.node(id);
    std::string text{node.op->name};
    for (const ValueId result : node.results) text += graph_.show(graph_.value(result).type);
    const auto append_raw = [&text](const auto& value) {
      text.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    const auto append_list = [&](const auto& list) {
      append_raw(list.size());
      for (const auto& element : list) append_raw(element);
    };
    for (const Attr& attr : node.attrs)
      std::visit(
          [&](const auto& value) {
            if constexpr (requires { value.size(); })
              append_list(value);
            else
              append_raw(value);
          },
          attr);
    return text;
  }

  std::vector<Key> signature(NodeId id) const {
    const Node& node = graph_.node(id);
    std::vector<Key> key;
    for (const ValueId operand : node.operands) key.push_back(value_key(operand, class_of_));
    if (node.has(Trait::commutative)) std::sort(key.begin(), key.end());
    if (const ValueId next = next_value_[id.index]; next.valid())
      key.push_back(value_key(next, previous_));
    // The previous class is part of the key, so classes are only split.
    key.emplace_back(previous_[id.index], 0);
    return key;
  }

  Key value_key(ValueId id, const std::vector<std::size_t>& classes) const {
    const Value& value = graph_.value(id);
    return {classes[value.producer.index], value.result};
  }

  const Graph& graph_;
  std::vector<NodeId> order_;
  std::vector<std::size_t> class_of_;  ///< by node index
  std::vector<std::size_t> previous_;  ///< the same before the current round
  std::vector<ValueId> next_value_;    ///< next values of states, by node index
};

bool merge_equal_nodes(Rewriter& rewriter) {
  const Graph& graph = rewriter.graph();
  const Classes classes(graph);
  std::map<std::size_t, NodeId> kept;
  std::size_t changes = rewriter.changes();
  for (const NodeId id : classes.order()) {
    const auto [found, is_first] = kept.emplace(classes[id], id);
    if (is_first) continue;
    const NodeId first = found->second;
    rewriter.begin("merge_common_subexpressions", std::vector<NodeId>{first, id});
    if (graph.node(id).has(Trait::sink)) {
      rewriter.remove(id);
    } else {
      for (std::size_t i = 0; i < graph.node(id).results.size(); ++i)
        rewriter.replace(graph.result(id, i), graph.result(first, i));
      rewriter.absorb_matched(first);
    }
    rewriter.finish();
  }
  return rewriter.changes() != changes;
}

}  // namespace

Pass merge_common_subexpressions() {
  return {.name = "merge_common_subexpressions", .run = merge_equal_nodes};
}

}  // namespace fuselage
