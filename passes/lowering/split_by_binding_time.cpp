#include "fuselage/passes/lowering/split_by_binding_time.h"

#include <fmt/format.h>

#include <array>
#include <set>
#include <unordered_map>

#include "fuselage/graph/text.h"
#include "fuselage/graph/verifier.h"
#include "fuselage/ops/registry.h"
#include "fuselage/ops/structure/leaf.h"
#include "graph/traversal.h"

namespace fuselage {
namespace {

class Splitter {
 public:
  explicit Splitter(const Graph& graph) : graph_(graph) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const std::string_view time = to_string(static_cast<BindingTime>(i));
      parts_[i].graph = graph.declarations();
      parts_[i].graph.set_name(graph.name().empty() ? std::string(time)
                                                    : fmt::format("{}.{}", graph.name(), time));
    }
    for (const Output& output : graph.outputs()) taken_names_.insert(output.name);
    // Weights and results of the load program share one namespace.
    for (const NodeId id : graph.nodes())
      if (graph.node(id).has(Trait::external))
        taken_names_.insert(graph.node(id).as<ExternalName>().name);
  }

  Programs split() {
    for (const NodeId id : topological_order(graph_))
      if (!is_leaf(graph_.node(id))) copy_into(part(graph_.binding(id)), id);
    for (const Output& output : graph_.outputs()) {
      Part& home = part(graph_.binding(output.value));
      home.graph.add_output(output.name, value_in(home, output.value));
    }
    std::array<std::size_t, 3> own_outputs{};
    for (std::size_t i = 0; i < parts_.size(); ++i)
      own_outputs[i] = parts_[i].graph.outputs().size();
    for (const auto& [value, name] : exports_) {
      Part& home = part(graph_.binding(value));
      if (!home.graph.find_output(name).valid()) home.graph.add_output(name, home.values.at(value));
    }
    for (const Part& part : parts_) verify(part.graph);
    return {
        std::move(parts_[0].graph),
        std::move(parts_[1].graph),
        std::move(parts_[2].graph),
        {std::move(parts_[0].origins), std::move(parts_[1].origins), std::move(parts_[2].origins)},
        own_outputs};
  }

 private:
  struct Part {
    Graph graph;
    std::unordered_map<ValueId, ValueId> values;  ///< whole-graph value to value in the part
    std::vector<NodeId> origins;                  ///< by node index in the part

    void add_origin(NodeId here, NodeId whole) {
      origins.resize(here.index + 1);
      origins[here.index] = whole;
    }
  };

  Part& part(BindingTime time) { return parts_[static_cast<std::size_t>(time)]; }

  /// Nodes copied into each part that reads them: parameters, constants and the graph's own
  /// imports.
  bool is_leaf(const Node& node) const {
    return node.operands.empty() && !node.results.empty() &&
           graph_.binding(node.results[0]) == BindingTime::load;
  }

  void copy_into(Part& to, NodeId id) {
    const Node& node = graph_.node(id);
    std::vector<ValueId> operands;
    for (const ValueId operand : node.operands) operands.push_back(value_in(to, operand));
    const NodeId copy =
        to.graph.add_node_with_attrs(*node.op, std::move(operands), node.attrs, node.location);
    to.graph.set_provenance(copy, node.provenance);
    to.add_origin(copy, id);
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      const ValueId result = to.graph.result(copy, i);
      to.graph.set_value_name(result, graph_.value(node.results[i]).name);
      to.values.emplace(node.results[i], result);
    }
  }

  /// The value in part `to` of a whole-graph value: computed there, copied or imported.
  ValueId value_in(Part& to, ValueId id) {
    if (const auto found = to.values.find(id); found != to.values.end()) return found->second;
    if (is_leaf(graph_.producer(id)))
      copy_into(to, graph_.value(id).producer);
    else
      import_into(to, id);
    return to.values.at(id);
  }

  void import_into(Part& to, ValueId id) {
    const Value& value = graph_.value(id);
    const Node& producer = graph_.producer(id);
    const NodeId import = to.graph.add_node(op_def<op::Import>(), {},
                                            attribute_values(op::Import{.name = export_name(id),
                                                                        .domain = value.type.domain,
                                                                        .dims = value.type.dims,
                                                                        .dtype = value.type.dtype}),
                                            producer.location);
    to.graph.set_provenance(import, producer.provenance);
    to.add_origin(import, value.producer);
    to.graph.set_value_name(to.graph.result(import), value.name);
    to.values.emplace(id, to.graph.result(import));
  }

  /// The name of a value passed between parts: the name of an output that it is already, or its own
  /// name made unique. Depends only on the graph.
  const std::string& export_name(ValueId id) {
    for (const auto& [value, name] : exports_)
      if (value == id) return name;
    std::string name;
    for (const Output& output : graph_.outputs())
      if (name.empty() && output.value == id) name = output.name;
    if (name.empty()) name = unique_name(id);
    return exports_.emplace_back(id, std::move(name)).second;
  }

  std::string unique_name(ValueId id) {
    std::string base = graph_.value(id).name;
    if (base.empty()) base = graph_.producer(id).op->name;
    for (char& c : base)
      if (!valid_name({&c, 1})) c = '_';
    std::string name = base;
    for (int i = 2; !taken_names_.insert(name).second; ++i) name = fmt::format("{}.{}", base, i);
    return name;
  }

  const Graph& graph_;
  std::array<Part, 3> parts_;
  std::vector<std::pair<ValueId, std::string>> exports_;  ///< in order of first use
  std::set<std::string> taken_names_;
};

}  // namespace

Programs split_by_binding_time(const Graph& graph) { return Splitter(graph).split(); }

const Graph& program(const Programs& programs, BindingTime time) {
  switch (time) {
    case BindingTime::load:
      return programs.load;
    case BindingTime::source:
      return programs.source;
    case BindingTime::step:
      break;
  }
  return programs.step;
}

}  // namespace fuselage
