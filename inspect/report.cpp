#include "fuselage/inspect/report.h"

#include <fmt/format.h>

#include "graph/traversal.h"
#include "inspect/lines.h"

namespace fuselage {
namespace {

std::string own_layer(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  for (const ValueId result : node.results)
    if (const std::string_view layer = layer_of(graph.value(result).name); !layer.empty())
      return std::string(layer);
  for (const std::string& origin : node.provenance.origins)
    if (const std::string_view layer = layer_of(origin); !layer.empty()) return std::string(layer);
  return "";
}

}  // namespace

double measured_seconds(const Profile& profile) {
  double seconds = 0;
  for (const NodeTime& time : profile.source) seconds += time.seconds;
  for (const NodeTime& time : profile.step) seconds += time.seconds;
  return seconds;
}

std::optional<MeasuredTime> time_of(const Report& report, const StageNode& node) {
  if (!report.profile || !node.program || *node.program == BindingTime::load) return std::nullopt;
  const std::vector<NodeTime>& times =
      *node.program == BindingTime::source ? report.profile->source : report.profile->step;
  if (node.id.index >= times.size() || times[node.id.index].runs == 0) return std::nullopt;
  const NodeTime& time = times[node.id.index];
  return MeasuredTime{time, time.seconds / measured_seconds(*report.profile)};
}

std::string print_time(const MeasuredTime& measured) {
  return fmt::format("{:.1f} % {:.2f} ms in {} runs", 100 * measured.share,
                     1e3 * measured.time.seconds, measured.time.runs);
}

std::string kernel_text(const Graph& program, NodeId id, const KernelSet& kernels,
                        const PlannedNode* planned) {
  if (planned && !planned->launched) return planned->kernel;
  return describe_kernel(program, id, kernels);
}

std::map<NodeId, PlannedNode> plan_of(const Graph& program, BindingTime time,
                                      const Backend& backend) {
  std::map<NodeId, PlannedNode> nodes;
  if (!backend.capabilities().plans) return nodes;
  const KernelSet kernels = backend.kernels(time);
  if (!nodes_without_kernel(program, kernels).empty()) return nodes;
  for (PlannedNode& node : planned_nodes(plan_program(program, kernels)))
    nodes.emplace(node.node, std::move(node));
  return nodes;
}

std::map<NodeId, PlannedNode> plan_by_node(const Report& report, BindingTime time) {
  std::map<NodeId, PlannedNode> nodes;
  for (const PlannedNode& node : report.plan[static_cast<std::size_t>(time)])
    nodes.emplace(node.node, node);
  return nodes;
}

std::vector<std::string> layers_of(const Graph& graph) {
  std::vector<std::string> layers(graph.node_limit());
  const std::vector<NodeId> order = topological_order(graph);
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    std::string& layer = layers[id->index];
    layer = own_layer(graph, *id);
    if (!layer.empty()) continue;
    const Node& node = graph.node(*id);
    bool first = true;
    for (const ValueId result : node.results)
      for (const Use& use : graph.value(result).uses) {
        const std::string& user = layers[use.node.index];
        if (first) layer = user;
        if (layer != user) layer.clear();
        first = false;
      }
    // A sink is in the layer of its first operand.
    if (node.results.empty() && !node.operands.empty())
      layer = own_layer(graph, graph.value(node.operands.front()).producer);
  }
  return layers;
}

}  // namespace fuselage
