#include "graph/traversal.h"

#include <algorithm>
#include <bit>
#include <boost/graph/depth_first_search.hpp>
#include <boost/graph/topological_sort.hpp>
#include <iterator>

#include "fuselage/base/error.h"
#include "fuselage/graph/text.h"
#include "graph/boost_view.h"

namespace fuselage {
namespace {

/// Depth-first post-order over operands, from outputs, then sinks, then all other nodes. It does
/// not depend on ids if all nodes are live.
std::vector<NodeId> canonical_order(const Graph& graph) {
  std::vector<NodeId> order;
  std::vector<std::uint8_t> seen(graph.node_limit(), 0);
  std::vector<std::pair<NodeId, std::size_t>> stack;
  const auto visit = [&](NodeId root) {
    if (seen[root.index]) return;
    seen[root.index] = 1;
    stack.emplace_back(root, 0);
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      const Node& node = graph.node(id);
      if (next == node.operands.size()) {
        order.push_back(id);
        stack.pop_back();
        continue;
      }
      const NodeId producer = graph.value(node.operands[next++]).producer;
      if (seen[producer.index]) continue;
      seen[producer.index] = 1;
      stack.emplace_back(producer, 0);
    }
  };
  // A sink is visited after its first operand, so the order of sinks among themselves does not
  // matter.
  std::size_t walked = 0;
  const auto visit_with_sinks = [&](NodeId root) {
    visit(root);
    for (; walked < order.size(); ++walked)
      for (const ValueId result : graph.node(order[walked]).results)
        for (const Use& use : graph.value(result).uses)
          if (use.operand == 0 && graph.node(use.node).has(Trait::sink)) visit(use.node);
  };
  for (const NodeId root : root_nodes(graph)) visit_with_sinks(root);
  for (const NodeId id : graph.nodes()) visit(id);
  return order;
}

class Hash {
 public:
  void add(std::uint64_t word) {
    state_ ^= word + 0x9e3779b97f4a7c15ull + (state_ << 6) + (state_ >> 2);
    state_ *= 0xff51afd7ed558ccdull;
    state_ ^= state_ >> 32;
  }
  void add(std::string_view text) { add(std::hash<std::string_view>{}(text)); }

  /// Equal for attributes that same_attr() takes for equal. Declarations give ids their meaning.
  void add(const Attr& attr) {
    add(std::uint64_t{attr.index()});
    std::visit([this](const auto& value) { add_value(value); }, attr);
  }

  void add(const Type& type) {
    add_value(type.dtype);
    add_value(type.domain);
    add_value(type.dims);
  }

  std::uint64_t value() const { return state_; }

 private:
  void add_value(std::int64_t value) { add(static_cast<std::uint64_t>(value)); }
  void add_value(double value) { add(std::bit_cast<std::uint64_t>(value)); }
  void add_value(bool value) { add(std::uint64_t{value}); }
  void add_value(DType value) { add(static_cast<std::uint64_t>(value)); }
  void add_value(DomainId value) { add(std::uint64_t{value.index}); }
  void add_value(MapId value) { add(std::uint64_t{value.index}); }
  void add_value(const std::string& value) { add(std::string_view(value)); }

  template <typename T>
  void add_value(const std::vector<T>& values) {
    add(std::uint64_t{values.size()});
    for (const T& value : values) add_value(value);
  }

  std::uint64_t state_ = 0;
};

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// Equality as in the text form: NaN equals NaN, and -0 differs from 0.
bool same_attr(const Attr& a, const Attr& b) {
  if (a.index() != b.index()) return false;
  if (const auto* real = std::get_if<double>(&a)) return same_bits(*real, std::get<double>(b));
  if (const auto* reals = std::get_if<std::vector<double>>(&a)) {
    const auto& other = std::get<std::vector<double>>(b);
    return std::equal(reals->begin(), reals->end(), other.begin(), other.end(), same_bits);
  }
  return a == b;
}

bool same_attrs(const Node& a, const Node& b) {
  return std::equal(a.attrs.begin(), a.attrs.end(), b.attrs.begin(), b.attrs.end(), same_attr);
}

std::uint64_t position_key(std::uint32_t node, std::uint32_t result) {
  return (std::uint64_t{node} << 8) | result;
}

}  // namespace

std::vector<NodeId> topological_order(const Graph& graph) {
  std::vector<NodeId> order;
  order.reserve(graph.node_count());
  const BoostView view(graph);
  try {
    boost::topological_sort(view, std::back_inserter(order));
  } catch (const boost::not_a_dag&) {
    check(false, "operand edges form a cycle");
  }
  return order;
}

std::vector<NodeId> root_nodes(const Graph& graph) {
  std::vector<NodeId> roots;
  for (const Output& output : graph.outputs()) roots.push_back(graph.value(output.value).producer);
  for (const NodeId id : graph.nodes())
    if (graph.node(id).has(Trait::sink)) roots.push_back(id);
  return roots;
}

std::vector<bool> reachable(const Graph& graph, const std::vector<NodeId>& roots) {
  const BoostView view(graph);
  std::vector<boost::default_color_type> colors(graph.node_limit());
  const auto color_map = boost::make_iterator_property_map(colors.begin(), NodeIndexMap{});
  for (const NodeId root : roots)
    if (colors[root.index] == boost::white_color)
      boost::depth_first_visit(view, root, boost::default_dfs_visitor{}, color_map);
  std::vector<bool> result(graph.node_limit());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = colors[i] != boost::white_color;
  return result;
}

bool same_graph(const Graph& a, const Graph& b) {
  if (a.node_count() != b.node_count() || a.outputs().size() != b.outputs().size() ||
      print_declarations(a) != print_declarations(b))
    return false;
  const std::vector<NodeId> order_a = canonical_order(a);
  const std::vector<NodeId> order_b = canonical_order(b);
  std::vector<ValueId> partner(a.value_limit());
  for (std::size_t i = 0; i < order_a.size(); ++i) {
    const Node& x = a.node(order_a[i]);
    const Node& y = b.node(order_b[i]);
    if (x.op != y.op || !same_attrs(x, y) || x.operands.size() != y.operands.size() ||
        x.results.size() != y.results.size())
      return false;
    for (std::size_t k = 0; k < x.operands.size(); ++k)
      if (partner[x.operands[k].index] != y.operands[k]) return false;
    for (std::size_t k = 0; k < x.results.size(); ++k) {
      if (a.value(x.results[k]).type != b.value(y.results[k]).type) return false;
      partner[x.results[k].index] = y.results[k];
    }
  }
  for (std::size_t i = 0; i < a.outputs().size(); ++i)
    if (a.outputs()[i].name != b.outputs()[i].name ||
        partner[a.outputs()[i].value.index] != b.outputs()[i].value)
      return false;
  return true;
}

std::uint64_t structural_hash(const Graph& graph) {
  Hash hash;
  hash.add(std::string_view(print_declarations(graph)));
  const std::vector<NodeId> order = canonical_order(graph);
  std::vector<std::uint32_t> position(graph.node_limit());
  const auto key = [&](ValueId id) {
    const Value& value = graph.value(id);
    return position_key(position[value.producer.index], value.result);
  };
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    position[order[i].index] = i;
    const Node& node = graph.node(order[i]);
    hash.add(std::string_view(node.op->name));
    for (const Attr& attr : node.attrs) hash.add(attr);
    for (const ValueId operand : node.operands) hash.add(key(operand));
    for (const ValueId result : node.results) hash.add(graph.value(result).type);
  }
  for (const Output& output : graph.outputs()) {
    hash.add(std::string_view(output.name));
    hash.add(key(output.value));
  }
  return hash.value();
}

}  // namespace fuselage
