#include "fuselage/inspect/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "inspect/lines.h"

namespace fuselage {
namespace {

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '\n')
      quoted += "\\n";
    else
      quoted += c;
  }
  return quoted + "\"";
}

/// Colour of a share of time: from white for 0 to red for one half or more.
std::string heat(double share) {
  const int rest = 255 - static_cast<int>(170 * std::min(1.0, 2 * share));
  return fmt::format("#ff{0:02x}{0:02x}", rest);
}

class Picture {
 public:
  Picture(const Report& report, const Stage& stage, std::optional<BindingTime> only)
      : report_(report), stage_(stage), labels_(stage.graph), layers_(layers_of(stage.graph)) {
    for (std::size_t i = 0; stage.planned && i < plans_.size(); ++i) {
      const auto time = static_cast<BindingTime>(i);
      plans_[i] = plan_of(program(report.history.programs, time), time, *report.backend);
    }
    for (StageNode& node : nodes_of(report.history, stage)) {
      const BindingTime time = node.program.value_or(node.graph->binding(node.id));
      const bool stored = is_stored(*node.graph, node.id);
      const bool imported = stored && stage.graph.binding(node.whole) != BindingTime::load;
      // An import is shown only in a picture of one program, in place of its producer.
      if ((only && time != *only) || (stored && !(only && imported))) continue;
      keys_[{node.graph, node.id}] = node.key;
      frames_[time][layers_[node.whole.index]].push_back(std::move(node));
    }
  }

  std::string print() {
    std::string text = fmt::format(
        "digraph {} {{\n  rankdir=TB; fontname=\"Helvetica\"; nodesep=0.2; ranksep=0.3;\n"
        "  node [shape=box, style=\"rounded,filled\", fillcolor=white, color=\"#8a94a6\", "
        "fontname=\"Helvetica\", fontsize=10, margin=\"0.1,0.05\"];\n"
        "  edge [color=\"#8a94a6\", arrowsize=0.5];\n",
        quote(stage_.graph.name()));
    for (const auto& [time, layers] : frames_) {
      text += frame(fmt::format("cluster_{}", to_string(time)), std::string(to_string(time)),
                    "#f4f6f9");
      std::size_t number = 0;
      for (const auto& [layer, nodes] : layers) {
        if (!layer.empty())
          text += frame(fmt::format("cluster_{}_{}", to_string(time), number++), layer, "#e9edf3");
        for (const StageNode& node : nodes) text += print_node(node);
        if (!layer.empty()) text += "  }\n";
      }
      text += "  }\n";
    }
    for (const auto& [time, layers] : frames_)
      for (const auto& [layer, nodes] : layers)
        for (const StageNode& node : nodes) text += print_edges(node);
    return text + "}\n";
  }

 private:
  static std::string frame(std::string_view id, const std::string& label, std::string_view color) {
    return fmt::format(
        "  subgraph {} {{\n  label={}; style=\"rounded,filled\"; color=\"#d5dbe5\"; "
        "fillcolor=\"{}\"; fontsize=11; labeljust=l;\n",
        quote(id), quote(label), color);
  }

  std::string print_node(const StageNode& at) const {
    const Node& node = at.graph->node(at.id);
    std::string label =
        fmt::format("{}\n{}", node.op->name, node_label(stage_.graph, at.whole, labels_));
    if (!node.results.empty())
      label += "\n" + at.graph->show(at.graph->value(node.results[0]).type);
    std::string style;
    if (is_view(at)) {
      label += "\nview";
      style = ", style=\"rounded,filled,dashed\"";
    } else if (const std::optional<MeasuredTime> measured = time_of(report_, at)) {
      label += fmt::format("\n{:.1f} %", 100 * measured->share);
      style = fmt::format(", fillcolor=\"{}\"", heat(measured->share));
    } else if (!at.graph->node(at.id).provenance.rules.empty()) {
      style = ", color=\"#2f7d4f\"";
    }
    return fmt::format("  {} [label={}{}];\n", quote(at.key), quote(label), style);
  }

  /// Whether no kernel runs for the node, since its readers look through it.
  bool is_view(const StageNode& at) const {
    if (!at.program) return false;
    const auto& plan = plans_[static_cast<std::size_t>(*at.program)];
    const auto found = plan.find(at.id);
    return found != plan.end() && !found->second.launched;
  }

  std::string print_edges(const StageNode& at) const {
    std::string text;
    std::set<std::string> from;
    for (const ValueId operand : at.graph->node(at.id).operands)
      if (std::string key = key_of(at, at.graph->value(operand).producer); !key.empty())
        from.insert(std::move(key));
    // The first operand of a sink is the state that it continues in the next iteration.
    const Node& node = at.graph->node(at.id);
    for (const std::string& key : from) {
      const bool carried =
          node.results.empty() && key == key_of(at, at.graph->value(node.operands[0]).producer);
      text += fmt::format("  {} -> {}{};\n", quote(key), quote(at.key),
                          carried ? " [constraint=false, style=dashed]" : "");
    }
    return text;
  }

  /// The key of the box of a producer, which may be a node of an earlier program behind an import;
  /// empty if it is not shown.
  std::string key_of(const StageNode& user, NodeId producer) const {
    const auto found = keys_.find({user.graph, producer});
    if (found != keys_.end()) return found->second;
    if (!user.program) return "";
    const auto& origins = report_.history.programs.origins[static_cast<std::size_t>(*user.program)];
    std::string key = fmt::format("n{}", origins.at(producer.index).index);
    for (const auto& [id, shown] : keys_)
      if (shown == key) return key;
    return "";
  }

  const Report& report_;
  const Stage& stage_;
  Labels labels_;
  std::vector<std::string> layers_;
  std::array<std::map<NodeId, PlannedNode>, 3> plans_;  ///< of the stage "planned"
  std::map<std::pair<const Graph*, NodeId>, std::string> keys_;
  std::map<BindingTime, std::map<std::string, std::vector<StageNode>>> frames_;
};

}  // namespace

std::string print_dot(const Report& report, const Stage& stage) {
  return Picture(report, stage, std::nullopt).print();
}

std::string print_dot(const Report& report, const Stage& stage, BindingTime program) {
  return Picture(report, stage, program).print();
}

}  // namespace fuselage
