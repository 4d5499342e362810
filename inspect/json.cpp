#include "fuselage/inspect/json.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "fuselage/backends/compile.h"
#include "fuselage/graph/text.h"
#include "fuselage/inspect/comparison.h"
#include "fuselage/passes/workload.h"
#include "inspect/lines.h"

namespace fuselage {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kDumpVersion = 1;

Json header(std::string_view kind) {
  return {{"format", "fuselage.dump"}, {"version", kDumpVersion}, {"kind", kind}};
}

/// JSON as text. Invalid UTF-8, which names in models may contain, is replaced.
std::string text_of(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json json_of(const Graph& graph, const Type& type) {
  return {{"type", graph.show(type)},
          {"domain", type.domain == graph.none() ? "" : graph.domain(type.domain).name},
          {"dtype", to_string(type.dtype)},
          {"dims", type.dims}};
}

/// Writes the nodes of one stage.
class StageWriter {
 public:
  StageWriter(const Report& report, const Stage& stage)
      : report_(report),
        stage_(stage),
        labels_(stage.graph),
        layers_(layers_of(stage.graph)),
        nodes_(nodes_of(report.history, stage)) {
    for (const StageNode& node : nodes_) keys_[{node.graph, node.id}] = node.key;
    if (!stage.planned) return;
    for (std::size_t i = 0; i < plans_.size(); ++i)
      plans_[i] = plan_by_node(report, static_cast<BindingTime>(i));
  }

  Json write() {
    Json nodes = Json::array();
    for (const StageNode& node : nodes_) nodes.push_back(write_node(node));
    Json outputs = Json::array();
    for (const Output& output : stage_.graph.outputs()) {
      const Value& value = stage_.graph.value(output.value);
      outputs.push_back({{"name", output.name},
                         {"node", fmt::format("n{}", value.producer.index)},
                         {"result", value.result}});
    }
    return {{"name", stage_.name},
            {"pass", stage_.record.name},
            {"reason", stage_.reason},
            {"changed", stage_.record.changed},
            {"rewrites", stage_.record.rewrites},
            {"refusals", write_refusals()},
            {"not_allowed", stage_.record.skipped},
            {"nodes", std::move(nodes)},
            {"outputs", std::move(outputs)}};
  }

 private:
  Json write_refusals() const {
    std::multimap<std::string, NodeId> by_text;
    for (const NodeId id : stage_.graph.nodes()) by_text.emplace(stage_.graph.describe(id), id);
    Json refusals = Json::array();
    for (const Refusal& refusal : stage_.record.refusals) {
      Json keys = Json::array();
      const auto [begin, end] = by_text.equal_range(refusal.node);
      for (auto at = begin; at != end; ++at) keys.push_back(fmt::format("n{}", at->second.index));
      refusals.push_back({{"rule", refusal.rule},
                          {"where", refusal.node},
                          {"nodes", std::move(keys)},
                          {"guard", refusal.guard},
                          {"reason", refusal.reason}});
    }
    return refusals;
  }

  Json write_node(const StageNode& at) const {
    const Graph& graph = *at.graph;
    const Node& node = graph.node(at.id);
    const Node& whole = stage_.graph.node(at.whole);
    Json operands = Json::array();
    for (const ValueId operand : node.operands) {
      const Value& value = graph.value(operand);
      std::string key = keys_.at({&graph, value.producer});
      if (value.result > 0) key += fmt::format(":{}", value.result);
      operands.push_back(std::move(key));
    }
    Json results = Json::array();
    for (std::size_t i = 0; i < node.results.size(); ++i) {
      Json result = json_of(graph, graph.value(node.results[i]).type);
      result["name"] = labels_[whole.results.at(i)];
      results.push_back(std::move(result));
    }
    Json json = {{"key", at.key},
                 {"name", node_label(stage_.graph, at.whole, labels_)},
                 {"op", node.op->name},
                 {"operands", std::move(operands)},
                 {"results", std::move(results)},
                 {"attributes", print_attributes(graph, node)},
                 {"binding", to_string(at.program.value_or(graph.binding(at.id)))},
                 {"layer", layers_[at.whole.index]},
                 {"stored", is_stored(graph, at.id)},
                 {"origins", whole.provenance.origins},
                 {"rules", whole.provenance.rules}};
    if (!node.location.file.empty())
      json["location"] = fmt::format("{}:{}", node.location.file, node.location.line);
    add_cost(graph, at.id, json);
    if (at.program) add_plan(at, json);
    return json;
  }

  void add_cost(const Graph& graph, NodeId id, Json& json) const {
    const Cost cost = cost_of(graph, id);
    const DomainId domain = rows_of(graph, id);
    const Workload& workload = report_.workload;
    const bool at_load = graph.binding(id) == BindingTime::load;
    json["cost"] = {
        {"flop", cost.flop},
        {"bytes", cost.bytes},
        {"weight_bytes", cost.weight_bytes},
        {"rows", expected_rows(graph, domain, workload)},
        {"weight_reads", at_load ? 0 : expected_runs(graph, domain, workload) / workload.batch}};
  }

  void add_plan(const StageNode& at, Json& json) const {
    json["program"] = to_string(*at.program);
    const std::string whole = fmt::format("n{}", at.whole.index);
    if (at.key != whole) json["of"] = whole;
    const auto& plan = plans_[static_cast<std::size_t>(*at.program)];
    const auto found = plan.find(at.id);
    json["kernel"] = kernel_text(*at.graph, at.id, report_.backend->kernels(*at.program),
                                 found == plan.end() ? nullptr : &found->second);
    if (found != plan.end()) json["launched"] = found->second.launched;
    if (const std::optional<MeasuredTime> measured = time_of(report_, at))
      json["time"] = {{"seconds", measured->time.seconds},
                      {"runs", measured->time.runs},
                      {"rows", measured->time.rows},
                      {"share", measured->share}};
  }

  const Report& report_;
  const Stage& stage_;
  Labels labels_;
  std::vector<std::string> layers_;
  std::vector<StageNode> nodes_;
  std::map<std::pair<const Graph*, NodeId>, std::string> keys_;
  std::array<std::map<NodeId, PlannedNode>, 3> plans_;
};

Json keys_of(const std::vector<NodeId>& nodes) {
  Json keys = Json::array();
  for (const NodeId id : nodes) keys.push_back(fmt::format("n{}", id.index));
  return keys;
}

Json json_of(const Rewrite& rewrite, const History& history) {
  return {{"stage", history.stages.at(rewrite.stage).name},
          {"rule", rewrite.rule},
          {"where", rewrite.where},
          {"matched", keys_of(rewrite.matched_nodes)},
          {"made", keys_of(rewrite.made_nodes)},
          {"before", rewrite.matched},
          {"after", rewrite.made}};
}

Json json_of(const Figures& figures) {
  Json json;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const ProgramFigures& program = figures[i];
    json[to_string(static_cast<BindingTime>(i))] = {{"nodes", program.nodes},
                                                    {"kernels", program.kernels},
                                                    {"flop", program.flop},
                                                    {"bytes", program.bytes},
                                                    {"weights", program.weight_bytes},
                                                    {"arena", program.arena_bytes}};
  }
  return json;
}

Json json_of(const Summary& summary) {
  const Workload& w = summary.workload;
  Json fusions = Json::array();
  for (const Fusion& fusion : summary.fusions)
    fusions.push_back({{"key", fusion.key},
                       {"node", fusion.node},
                       {"op", fusion.op},
                       {"ops", fusion.ops},
                       {"rules", fusion.rules}});
  Json reference_nodes = Json::array();
  for (const ReferenceNode& node : summary.reference_nodes)
    reference_nodes.push_back({{"key", node.key},
                               {"node", node.node},
                               {"op", node.op},
                               {"program", to_string(node.program)}});
  Json moves = Json::array();
  for (const Move& move : summary.moves)
    moves.push_back({{"key", move.key},
                     {"node", move.node},
                     {"op", move.op},
                     {"from", move.from},
                     {"to", move.to},
                     {"from_time", to_string(move.from_time)},
                     {"to_time", to_string(move.to_time)},
                     {"rows_before", move.rows_before},
                     {"rows_after", move.rows_after},
                     {"rules", move.rules}});
  return {{"workload",
           {{"source_length", w.source_length},
            {"target_length", w.target_length},
            {"beam", w.beam},
            {"batch", w.batch},
            {"distinct_parents", w.distinct_parents}}},
          {"before", json_of(summary.before)},
          {"after", json_of(summary.after)},
          {"fusions", std::move(fusions)},
          {"moves", std::move(moves)},
          {"reference_nodes", std::move(reference_nodes)}};
}

Json json_of(const Report& report) {
  Json json = header("graph");
  json["model"] = report.model;
  const Graph& graph = report.history.raw();
  json["graph"] = graph.name();
  Json domains = Json::array();
  for (std::uint32_t i = 1; i < graph.domain_count(); ++i) {
    const Domain& domain = graph.domain(DomainId{i});
    domains.push_back({{"name", domain.name},
                       {"kind", to_string(domain.kind)},
                       {"binding", to_string(domain.binding)}});
  }
  json["domains"] = std::move(domains);
  Json stages = Json::array();
  for (const std::size_t i : report.stages)
    stages.push_back(StageWriter(report, report.history.stages[i]).write());
  json["stages"] = std::move(stages);
  Json rewrites = Json::array();
  for (const Rewrite& rewrite : report.history.rewrites)
    rewrites.push_back(json_of(rewrite, report.history));
  json["rewrites"] = std::move(rewrites);
  const Target target = report.backend->capabilities().target;
  json["target"] = {{"flop_per_second", target.flop_per_second},
                    {"bytes_per_second", target.bytes_per_second}};
  if (report.summary) json["summary"] = json_of(*report.summary);
  if (report.profile)
    json["profile"] = {{"seconds", measured_seconds(*report.profile)},
                       {"batches", report.profile->batches},
                       {"steps", report.profile->steps}};
  return json;
}

}  // namespace

std::string print_json(const Report& report) { return text_of(json_of(report), 1); }

std::string print_comparison_json(const Comparison& comparison) {
  Json json = header("comparison");
  json["this"] = json_of(comparison.left);
  json["against"] = json_of(comparison.right);
  return text_of(json, 1);
}

std::string print_pooled_json(const Report& report) {
  Json json = json_of(report);
  Json pool = Json::array();
  std::map<std::string, std::size_t> numbers;
  for (Json& stage : json["stages"]) {
    Json pooled = Json::array();
    for (Json& node : stage["nodes"]) {
      const auto [found, is_new] = numbers.emplace(text_of(node, -1), pool.size());
      if (is_new) pool.push_back(std::move(node));
      pooled.push_back(found->second);
    }
    stage["nodes"] = std::move(pooled);
  }
  json["nodes"] = std::move(pool);
  return text_of(json, -1);
}

std::string print_json(const StageDiff& diff, const Stage& before, const Stage& after) {
  Json json = header("diff");
  json["before"] = before.name;
  json["after"] = after.name;
  json["added"] = diff.added;
  json["removed"] = diff.removed;
  json["changed"] = diff.changed;
  Json lines = Json::array();
  for (const DiffLine& line : diff.lines)
    lines.push_back({{"sign", line.added ? "+" : "-"},
                     {"key", line.key},
                     {"text", line.text},
                     {"provenance", line.note}});
  json["lines"] = std::move(lines);
  return text_of(json, 1);
}

std::string print_json(const std::vector<Verdict>& verdicts) {
  Json json = header("explanation");
  Json list = Json::array();
  for (const Verdict& verdict : verdicts) {
    Json refusals = Json::array();
    for (const Refusal& refusal : verdict.refusals)
      refusals.push_back({{"guard", refusal.guard}, {"reason", refusal.reason}});
    list.push_back({{"verdict", to_string(verdict.kind)},
                    {"stage", verdict.stage},
                    {"rule", verdict.rule},
                    {"numerics", verdict.numerics},
                    {"where", verdict.where},
                    {"matched", verdict.matched},
                    {"made", verdict.made},
                    {"refusals", std::move(refusals)},
                    {"reason", verdict.reason}});
  }
  json["verdicts"] = std::move(list);
  return text_of(json, 1);
}

}  // namespace fuselage
