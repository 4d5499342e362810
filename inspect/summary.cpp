#include "fuselage/inspect/summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "graph/traversal.h"
#include "inspect/lines.h"
#include "inspect/numbers.h"

namespace fuselage {
namespace {

double stored_bytes(const Graph& graph, const Node& node) {
  const Type& type = graph.value(node.results[0]).type;
  const auto rows = static_cast<double>(std::max<std::int64_t>(1, graph.domain(type.domain).size));
  return rows * static_cast<double>(row_bytes(type));
}

ProgramFigures measure_program(const Graph& graph, const std::vector<PlannedNode>& plan,
                               const Workload& workload) {
  ProgramFigures figures;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (is_stored(graph, id)) {
      if (graph.binding(id) == BindingTime::load) figures.weight_bytes += stored_bytes(graph, node);
      continue;
    }
    ++figures.nodes;
    const Cost cost = cost_of(graph, id);
    const DomainId domain = rows_of(graph, id);
    const double rows = expected_rows(graph, domain, workload);
    figures.flop += rows * cost.flop;
    figures.bytes += rows * cost.bytes;
    if (graph.binding(id) != BindingTime::load)
      figures.bytes += cost.weight_bytes * expected_runs(graph, domain, workload) / workload.batch;
  }
  for (const PlannedNode& node : plan) figures.kernels += node.launched ? 1 : 0;
  return figures;
}

/// Measures the arenas of a worker that begins a batch of the workload.
void measure_arenas(const Executable& executable, const Workload& workload, Figures& figures) {
  const auto sentences = static_cast<std::size_t>(workload.batch);
  const std::vector<WordIds> batch(
      sentences,
      WordIds(std::max<std::size_t>(1, static_cast<std::size_t>(workload.source_length))));
  const StepLimits limits{
      .hypotheses = std::vector<std::int32_t>(sentences, static_cast<std::int32_t>(workload.beam)),
      .steps =
          std::vector<std::int32_t>(sentences, static_cast<std::int32_t>(workload.target_length))};
  const std::unique_ptr<Worker> worker = executable.make_worker();
  worker->begin(batch, limits);
  for (const BindingTime time : {BindingTime::source, BindingTime::step})
    figures[static_cast<std::size_t>(time)].arena_bytes =
        static_cast<double>(worker->arena_bytes(time));
}

/// The nodes of the raw graph by their names in provenance.
class RawNodes {
 public:
  RawNodes(const Graph& raw, const Graph& optimized) : graph_(raw) {
    for (const NodeId id : raw.nodes()) by_name_.emplace(origins_of(raw, id).front(), id);
    for (const NodeId id : optimized.nodes()) {
      const Node& node = optimized.node(id);
      for (const NodeId origin : origins(node))
        if (raw.node(origin).op == node.op && cost_of(raw, origin).weight_bytes > 0)
          owner_[origin] = id;
    }
  }

  /// The origins of a node that compute something.
  std::vector<NodeId> origins(const Node& node) const {
    std::vector<NodeId> found;
    for (const std::string& origin : node.provenance.origins)
      if (const auto raw = by_name_.find(origin);
          raw != by_name_.end() && !is_stored(graph_, raw->second))
        found.push_back(raw->second);
    return found;
  }

  /// The origins whose work the node does. It may have others: what quantizes a product's operand
  /// stems from the product, which is still a node of its own.
  std::vector<NodeId> done_by(const Graph& optimized, NodeId id) const {
    std::vector<NodeId> done = origins(optimized.node(id));
    std::erase_if(done, [&](NodeId origin) {
      const auto owner = owner_.find(origin);
      return owner != owner_.end() && owner->second != id;
    });
    return done;
  }

 private:
  const Graph& graph_;
  std::map<std::string, NodeId> by_name_;
  std::map<NodeId, NodeId> owner_;
};

/// A node's name, or else an origin's.
std::string name_for_user(const Graph& graph, NodeId id, const Labels& labels) {
  const Node& node = graph.node(id);
  const bool has_name = !node.results.empty() && !graph.value(node.results[0]).name.empty();
  return has_name ? node_label(graph, id, labels) : node.provenance.origins.front();
}

void find_fusion(const Graph& raw, const std::vector<NodeId>& origins, Fusion fusion,
                 std::vector<Fusion>& fusions) {
  for (const NodeId id : origins) fusion.ops.emplace_back(raw.node(id).op->name);
  // Merged equal nodes are not a fusion.
  const std::set<std::string> distinct(fusion.ops.begin(), fusion.ops.end());
  if (distinct.size() > 1) fusions.push_back(std::move(fusion));
}

void find_move(const History& history, NodeId id, const std::vector<NodeId>& origins, Move move,
               Summary& summary) {
  const Graph& raw = history.raw();
  const Graph& graph = history.optimized();
  const DomainId to = rows_of(graph, id);
  const auto stays = [&](NodeId origin) { return rows_of(raw, origin) == to; };
  if (std::any_of(origins.begin(), origins.end(), stays)) return;
  const DomainId from = rows_of(raw, origins.front());
  move.from = raw.domain(from).name;
  if (to != graph.none()) move.to = graph.domain(to).name;
  move.from_time = raw.domain(from).binding;
  move.to_time = graph.domain(to).binding;
  move.rows_before = expected_rows(raw, from, summary.workload);
  move.rows_after = expected_rows(graph, to, summary.workload);
  summary.moves.push_back(std::move(move));
}

// --- Text ---

struct Row {
  std::string_view name;
  double ProgramFigures::*figure;
  std::string_view unit;
};
constexpr Row kRows[] = {
    {"nodes", &ProgramFigures::nodes, ""},           {"kernels", &ProgramFigures::kernels, ""},
    {"flop", &ProgramFigures::flop, "FLOP"},         {"bytes", &ProgramFigures::bytes, "B"},
    {"weights", &ProgramFigures::weight_bytes, "B"}, {"arena", &ProgramFigures::arena_bytes, "B"},
};

std::string ratio(double before, double after) {
  return before > 0 ? fmt::format("{:.2f}", after / before) : "-";
}

std::string rules_text(const std::vector<std::string>& rules) {
  return fmt::format("{}", fmt::join(rules, ", "));
}

}  // namespace

Figures measure(const Programs& programs, const ProgramPlans& plans, const Workload& workload) {
  Figures figures;
  for (std::size_t i = 0; i < figures.size(); ++i)
    figures[i] =
        measure_program(program(programs, static_cast<BindingTime>(i)), plans[i], workload);
  return figures;
}

Figures measure(const Programs& programs, const Executable& executable, const Workload& workload) {
  ProgramPlans plans;
  for (std::size_t i = 0; i < plans.size(); ++i)
    plans[i] = executable.plan(static_cast<BindingTime>(i));
  Figures figures = measure(programs, plans, workload);
  measure_arenas(executable, workload, figures);
  return figures;
}

Summary summarize(const History& history, const Workload& workload) {
  Summary summary;
  summary.workload = workload;
  const Graph& graph = history.optimized();
  const Labels labels(graph);
  const RawNodes raw(history.raw(), graph);
  for (const NodeId id : topological_order(graph)) {
    const Node& node = graph.node(id);
    // Moving a node without arithmetic, such as a slice, gains nothing.
    if (is_stored(graph, id) || node.provenance.rules.empty() || cost_of(graph, id).flop == 0)
      continue;
    const std::vector<NodeId> origins = raw.origins(node);
    if (origins.empty()) continue;
    const std::string key = fmt::format("n{}", id.index);
    const std::string label = name_for_user(graph, id, labels);
    find_fusion(history.raw(), raw.done_by(graph, id),
                {key, label, std::string(node.op->name), {}, node.provenance.rules},
                summary.fusions);
    Move move{.key = key, .node = label, .op = std::string(node.op->name)};
    move.rules = node.provenance.rules;
    find_move(history, id, origins, std::move(move), summary);
  }
  return summary;
}

std::vector<ReferenceNode> find_reference_nodes(const History& history, const ProgramPlans& plans) {
  std::vector<ReferenceNode> found;
  for (const BindingTime time : {BindingTime::source, BindingTime::step}) {
    const auto i = static_cast<std::size_t>(time);
    const Graph& graph = program(history.programs, time);
    const Labels labels(graph);
    for (const PlannedNode& planned : plans[i])
      if (planned.on_reference)
        found.push_back(
            {fmt::format("n{}", history.programs.origins[i].at(planned.node.index).index),
             node_label(graph, planned.node, labels),
             std::string(graph.node(planned.node).op->name), time});
  }
  return found;
}

std::string print_figures(const Figures& left, const Figures& right, const Workload& workload,
                          std::string_view left_title, std::string_view right_title) {
  std::string text = fmt::format(
      "# source and step: flop and bytes for a sentence of {:g} words, {:g} steps, beam {:g}; "
      "arena for {:g} such sentences\n{:<8} {:<8} {:>12} {:>12} {:>8}\n",
      workload.source_length, workload.target_length, workload.beam, workload.batch, "program",
      "figure", left_title, right_title, "ratio");
  for (std::size_t i = 0; i < left.size(); ++i)
    for (const Row& row : kRows) {
      const double before = left[i].*row.figure, after = right[i].*row.figure;
      text += fmt::format(
          "{:<8} {:<8} {:>12} {:>12} {:>8}\n", to_string(static_cast<BindingTime>(i)), row.name,
          print_scaled(before, row.unit), print_scaled(after, row.unit), ratio(before, after));
    }
  return text;
}

std::string print_summary(const Summary& summary) {
  std::string text =
      print_figures(summary.before, summary.after, summary.workload, "before", "after");
  for (const std::string& line : findings_of(summary)) text += line + "\n";
  return text;
}

std::vector<std::string> findings_of(const Summary& summary) {
  std::vector<std::string> lines;
  for (const Fusion& fusion : summary.fusions)
    lines.push_back(fmt::format("fused {} {} <- {} by {}", fusion.op, fusion.node,
                                fmt::join(fusion.ops, " "), rules_text(fusion.rules)));
  for (const Move& move : summary.moves)
    lines.push_back(fmt::format("moved {} {}: {} ({}) -> {} ({}) by {}", move.op, move.node,
                                move.from, to_string(move.from_time),
                                move.to.empty() ? "once" : move.to, to_string(move.to_time),
                                rules_text(move.rules)));
  for (const ReferenceNode& node : summary.reference_nodes)
    lines.push_back(fmt::format("by reference evaluation {} {} ({})", node.op, node.node,
                                to_string(node.program)));
  return lines;
}

}  // namespace fuselage
