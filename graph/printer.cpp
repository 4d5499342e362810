#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <unordered_set>

#include "fuselage/graph/text.h"
#include "graph/traversal.h"

namespace fuselage {
namespace {

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      quoted += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20)
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      quoted += c;
  }
  return quoted + "\"";
}

std::string quote_all(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(quote(text));
  return fmt::format("{}", fmt::join(quoted, ", "));
}

struct AttrPrinter {
  const Graph& graph;

  std::string operator()(std::int64_t v) const { return fmt::format("{}", v); }
  std::string operator()(double v) const { return fmt::format("{}", v); }
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(const std::string& v) const { return quote(v); }
  std::string operator()(DomainId v) const { return graph.domain(v).name; }
  std::string operator()(const MapPath& v) const {
    std::vector<std::string_view> names;
    for (const MapId id : v) names.push_back(graph.map(id).name);
    return fmt::format("[{}]", fmt::join(names, ", "));
  }
  std::string operator()(const Dims& v) const { return fmt::format("[{}]", fmt::join(v, ", ")); }
  std::string operator()(const std::vector<double>& v) const {
    return fmt::format("[{}]", fmt::join(v, ", "));
  }
  std::string operator()(DType v) const { return std::string(to_string(v)); }
};

std::string print_window(const Window& window) {
  if (window.has_all()) return "";
  const auto bound = [](std::int64_t distance) {
    if (distance == Window::kUnbounded) return std::string("inf");
    return distance == -Window::kUnbounded ? std::string("-inf") : fmt::format("{}", distance);
  };
  return fmt::format(" within {} {}", bound(window.first), bound(window.last));
}

std::string print_domain(const Graph& graph, const Domain& domain) {
  std::string text = fmt::format("domain {} = {}", domain.name, to_string(domain.kind));
  if (domain.kind == DomainKind::vocabulary) text += fmt::format(" {}", domain.size);
  if (domain.kind == DomainKind::pairs)
    text +=
        fmt::format(" of {}, {}", graph.domain(domain.left).name, graph.domain(domain.right).name) +
        print_window(domain.window);
  if (domain.of.valid()) text += fmt::format(" of {}", graph.domain(domain.of).name);
  if (domain.reversed) text += " reversed";
  return text + "\n";
}

std::string print_map(const Graph& graph, const RowMap& map) {
  std::string text = fmt::format("map {} : {} -> {}", map.name, graph.domain(map.from).name,
                                 graph.domain(map.to).name);
  switch (map.kind) {
    case MapKind::word:
      if (map.partial) text += " partial";
      break;
    case MapKind::neighbour:
      text += fmt::format(" neighbour {}", map.offset);
      break;
    case MapKind::token:
      text += fmt::format(" token {}", map.offset);
      break;
    case MapKind::position:
      text += " position";
      if (map.offset != 0) text += fmt::format(" {}", map.offset);
      break;
    case MapKind::distance:
      text += map.buckets.kind == DistanceBuckets::Kind::clipped
                  ? " distance clipped"
                  : fmt::format(" distance logarithmic {}", map.buckets.max_distance);
      if (map.buckets.causal) text += " causal";
      break;
    default:
      return "";  // declared with its domain
  }
  return text + "\n";
}

/// A name for each value: its own name if it is unique and valid, else a number.
std::vector<std::string> value_names(const Graph& graph, const std::vector<NodeId>& order) {
  std::vector<std::string> names(graph.value_limit());
  std::unordered_set<std::string> taken;
  std::size_t next_number = 0;
  for (const NodeId id : order)
    for (const ValueId result : graph.node(id).results) {
      const std::string& own = graph.value(result).name;
      const bool is_number =
          std::all_of(own.begin(), own.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
      std::string name = own;
      if (is_number || !valid_name(own)) name = fmt::format("{}", next_number++);
      for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}.{}", own, i);
      names[result.index] = std::move(name);
    }
  return names;
}

std::string print_node(const Graph& graph, NodeId id, const std::vector<std::string>& names,
                       const PrintOptions& options) {
  const Node& node = graph.node(id);
  std::vector<std::string> results, types, operands;
  for (const ValueId result : node.results) {
    results.push_back("%" + names[result.index]);
    types.push_back(graph.show(graph.value(result).type));
  }
  for (const ValueId operand : node.operands) operands.push_back("%" + names[operand.index]);
  std::string text;
  if (!results.empty()) text += fmt::format("{} = ", fmt::join(results, ", "));
  text += fmt::format("{}({})", node.op->name, fmt::join(operands, ", "));
  const std::string attributes = print_attributes(graph, node);
  if (!attributes.empty()) text += " " + attributes;
  if (!types.empty()) text += fmt::format(" : {}", fmt::join(types, ", "));
  if (options.provenance && !node.provenance.rules.empty()) {
    const Provenance& provenance = node.provenance;
    if (!provenance.origins.empty()) text += " from " + quote_all(provenance.origins);
    text += " by " + quote_all(provenance.rules);
  }
  const std::string comment = options.comment ? options.comment(id) : "";
  if (!comment.empty()) text += "  # " + comment;
  return text + "\n";
}

}  // namespace

bool valid_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           c == '.';
  });
}

std::string print_declarations(const Graph& graph) {
  // Domains declare maps too, so each `map` line is placed where the parser assigns the same map
  // id.
  std::string text;
  std::uint32_t next_domain = 1;
  const auto print_domains_to = [&](std::uint32_t last) {
    for (; next_domain <= last; ++next_domain)
      text += print_domain(graph, graph.domain(DomainId{next_domain}));
  };
  for (std::uint32_t i = 0; i < graph.map_count(); ++i) {
    const RowMap& map = graph.map(MapId{i});
    print_domains_to(std::max(map.from.index, map.to.index));
    text += print_map(graph, map);
  }
  print_domains_to(static_cast<std::uint32_t>(graph.domain_count()) - 1);
  for (const Input& input : graph.inputs())
    text += fmt::format("input {} : {}\n", input.name, graph.show(input.type));
  return text;
}

std::string print_attribute(const Graph& graph, const Attr& value) {
  return std::visit(AttrPrinter{graph}, value);
}

std::string print_attributes(const Graph& graph, const Node& node) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < node.attrs.size(); ++i) {
    const AttrSpec& spec = node.op->attributes[i];
    if (spec.default_value && *spec.default_value == node.attrs[i]) continue;
    parts.push_back(fmt::format("{} = {}", spec.name, print_attribute(graph, node.attrs[i])));
  }
  return parts.empty() ? "" : fmt::format("{{{}}}", fmt::join(parts, ", "));
}

std::string print_graph(const Graph& graph, const PrintOptions& options) {
  std::string text = fmt::format("fuselage.graph 1\ngraph {}\n", quote(graph.name()));
  text += print_declarations(graph);
  const std::vector<NodeId> order = topological_order(graph);
  const std::vector<std::string> names = value_names(graph, order);
  for (const NodeId id : order) text += print_node(graph, id, names, options);
  std::vector<std::string> outputs;
  for (const Output& output : graph.outputs())
    outputs.push_back(fmt::format("{} = %{}", output.name, names[output.value.index]));
  if (!outputs.empty()) text += fmt::format("return {}\n", fmt::join(outputs, ", "));
  return text;
}

}  // namespace fuselage
