#include "inspect/lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <unordered_map>

#include "fuselage/graph/text.h"

namespace fuselage {

Labels::Labels(const Graph& graph) : labels_(graph.value_limit()) {
  std::unordered_map<std::string_view, std::size_t> uses;
  for (const NodeId id : graph.nodes())
    for (const ValueId result : graph.node(id).results) ++uses[graph.value(result).name];
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      const std::string& name = graph.value(node.results[i]).name;
      std::string& label = labels_[node.results[i].index];
      label = name;
      if (!valid_name(name) || uses[name] > 1)
        label = fmt::format("{}#{}", name.empty() ? node.op->name : name, id.index);
      if (name.empty() && i > 0) label += fmt::format(".{}", i);
    }
  }
}

std::string node_label(const Graph& graph, NodeId id, const Labels& labels) {
  const Node& node = graph.node(id);
  if (!node.results.empty()) return labels[node.results[0]];
  return fmt::format("{}({})", node.op->name,
                     node.operands.empty() ? std::to_string(id.index) : labels[node.operands[0]]);
}

std::string node_line(const Graph& graph, NodeId id, const Labels& labels) {
  const Node& node = graph.node(id);
  std::vector<std::string> results, operands, types;
  for (const ValueId operand : node.operands) operands.push_back("%" + labels[operand]);
  for (const ValueId result : node.results) {
    results.push_back("%" + labels[result]);
    types.push_back(graph.show(graph.value(result).type));
  }
  std::string text;
  if (!results.empty()) text = fmt::format("{} = ", fmt::join(results, ", "));
  text += fmt::format("{}({})", node.op->name, fmt::join(operands, ", "));
  const std::string attributes = print_attributes(graph, node);
  if (!attributes.empty()) text += " " + attributes;
  if (!types.empty()) text += fmt::format(" : {}", fmt::join(types, ", "));
  return text;
}

std::string provenance_text(const Graph& graph, NodeId id) {
  const Provenance& provenance = graph.node(id).provenance;
  if (provenance.rules.empty()) return "";
  return fmt::format("from {} by {}", fmt::join(provenance.origins, ", "),
                     fmt::join(provenance.rules, ", "));
}

std::vector<std::string> names_of(const Graph& graph, NodeId id, const Labels& labels) {
  const Node& node = graph.node(id);
  std::vector<std::string> names = node.provenance.origins;
  names.push_back(node_label(graph, id, labels));
  names.push_back(fmt::format("{}#{}", node.op->name, id.index));
  for (const ValueId result : node.results) {
    names.push_back(labels[result]);
    if (!graph.value(result).name.empty()) names.push_back(graph.value(result).name);
  }
  return names;
}

DomainId rows_of(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const ValueId value = node.results.empty() ? node.operands.back() : node.results[0];
  return graph.value(value).type.domain;
}

bool is_stored(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  return node.has(Trait::external) ||
         (node.operands.empty() && graph.value(node.results[0]).type.domain == graph.none());
}

std::string_view layer_of(std::string_view name) {
  std::size_t dot = name.rfind('.');
  const auto is_number = [](std::string_view text) {
    for (const char c : text)
      if (std::isdigit(static_cast<unsigned char>(c)) == 0) return false;
    return !text.empty();
  };
  if (dot != std::string_view::npos && is_number(name.substr(dot + 1))) {
    name = name.substr(0, dot);
    dot = name.rfind('.');
  }
  return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

}  // namespace fuselage
