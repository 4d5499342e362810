// A graph as Python objects: declarations, nodes in the order of creation, and values by number.

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "fuselage/graph/graph.h"
#include "fuselage/models/architectures/architecture.h"
#include "fuselage/models/load_model.h"
#include "python/bindings/bindings.h"
#include "python/bindings/tensors.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace fuselage;

namespace {

/// Numbers of domains and maps; None for one that is not there.
template <typename Id>
nb::object number(Id id) {
  return id.valid() ? nb::cast(id.index) : nb::none();
}

nb::object bound(std::int64_t value) {
  return std::abs(value) == Window::kUnbounded ? nb::none() : nb::cast(value);
}

nb::dict describe(const Domain& domain) {
  nb::dict made;
  made["name"] = domain.name;
  made["kind"] = to_string(domain.kind);
  made["size"] = domain.size;
  made["of"] = number(domain.of);
  made["reversed"] = domain.reversed;
  made["left"] = number(domain.left);
  made["right"] = number(domain.right);
  made["window"] = nb::make_tuple(bound(domain.window.first), bound(domain.window.last));
  return made;
}

std::string_view name_of(MapKind kind) {
  switch (kind) {
    case MapKind::structural:
      return "structural";
    case MapKind::left:
      return "left";
    case MapKind::right:
      return "right";
    case MapKind::newest:
      return "newest";
    case MapKind::word:
      return "word";
    case MapKind::neighbour:
      return "neighbour";
    case MapKind::token:
      return "token";
    case MapKind::position:
      return "position";
    case MapKind::distance:
      return "distance";
  }
  return "";
}

nb::dict describe(const RowMap& map) {
  nb::dict made;
  made["name"] = map.name;
  made["source"] = number(map.from);
  made["target"] = number(map.to);
  made["kind"] = name_of(map.kind);
  made["partial"] = map.partial;
  made["offset"] = map.offset;
  made["logarithmic"] = map.buckets.kind == DistanceBuckets::Kind::logarithmic;
  made["max_distance"] = map.buckets.max_distance;
  made["causal"] = map.buckets.causal;
  return made;
}

/// Domains and maps of attributes are numbers, as everywhere in the description.
nb::object to_object(const Attr& attr) {
  return std::visit(
      [](const auto& value) -> nb::object {
        using T = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::is_same_v<T, DomainId>) {
          return number(value);
        } else if constexpr (std::is_same_v<T, MapPath>) {
          nb::list maps;
          for (const MapId map : value) maps.append(map.index);
          return nb::object(std::move(maps));
        } else if constexpr (std::is_same_v<T, DType>) {
          return nb::cast(std::string(to_string(value)));
        } else {
          return nb::cast(value);
        }
      },
      attr);
}

nb::dict describe_node(const Node& node) {
  nb::dict attributes;
  for (std::size_t i = 0; i < node.attrs.size(); ++i)
    attributes[nb::cast(std::string(node.op->attributes[i].name))] = to_object(node.attrs[i]);
  nb::list operands, results;
  for (const ValueId id : node.operands) operands.append(id.index);
  for (const ValueId id : node.results) results.append(id.index);
  nb::dict made;
  made["op"] = std::string(node.op->name);
  made["operands"] = operands;
  made["results"] = results;
  made["attributes"] = attributes;
  return made;
}

nb::dict describe_value(const Value& value) {
  nb::dict made;
  made["name"] = value.name;
  made["dtype"] = std::string(to_string(value.type.dtype));
  made["domain"] = value.type.domain.index;
  made["dims"] = value.type.dims;
  return made;
}

/// Everything that a graph says, for an executor in Python.
nb::dict structure_of(const Graph& graph) {
  nb::list domains, maps, nodes, outputs;
  for (std::uint32_t i = 0; i < graph.domain_count(); ++i)
    domains.append(describe(graph.domain(DomainId{i})));
  for (std::uint32_t i = 0; i < graph.map_count(); ++i) maps.append(describe(graph.map(MapId{i})));
  nb::dict values;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    nodes.append(describe_node(node));
    for (const ValueId result : node.results)
      values[nb::cast(result.index)] = describe_value(graph.value(result));
  }
  for (const Output& output : graph.outputs())
    outputs.append(nb::make_tuple(output.name, output.value.index));
  nb::dict made;
  made["domains"] = domains;
  made["maps"] = maps;
  made["nodes"] = nodes;
  made["values"] = values;
  made["outputs"] = outputs;
  return made;
}

/// The graph and the weights of a model of any format that load_model reads.
nb::tuple load(const std::string& path) {
  Model model = load_model(path);
  nb::dict weights;
  for (const auto& [name, tensor] : model.weights) weights[nb::cast(name)] = from_tensor(tensor);
  return nb::make_tuple(std::make_shared<Graph>(std::move(model.graph)), weights,
                        model.vocabularies);
}

/// The graph of an architecture, with random weights.
nb::tuple make_architecture(const std::string& name,
                            const std::map<std::string, std::string>& options, std::uint64_t seed) {
  Model model = build_random_model(name, ModelOptions(options), seed, name);
  nb::dict weights;
  for (const auto& [weight, tensor] : model.weights)
    weights[nb::cast(weight)] = from_tensor(tensor);
  return nb::make_tuple(std::make_shared<Graph>(std::move(model.graph)), weights);
}

}  // namespace

void bind_structure(nb::module_& module) {
  module.def("structure", structure_of, "graph"_a);
  module.def("load_model", load, "path"_a);
  module.def("architecture", make_architecture, "name"_a, "options"_a, "seed"_a);
}
