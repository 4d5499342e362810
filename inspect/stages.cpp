#include "fuselage/inspect/stages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "graph/traversal.h"
#include "inspect/lines.h"
#include "passes/rewrite/pass_manager.h"

namespace fuselage {
namespace {

/// Records the rewrites of a pass.
class Listener {
 public:
  Listener(const Graph& graph, History& history) : graph_(graph), history_(history) {}

  void operator()(const Rule& rule, const Match& match, bool done) {
    const Labels labels(graph_);
    if (!done) {
      Rewrite rewrite{.stage = history_.stages.size(),
                      .rule = rule.name,
                      .root = match.root(),
                      .where = graph_.describe(match.root())};
      for (const NodeId id : match.nodes()) {
        rewrite.matched_nodes.push_back(id);
        rewrite.matched.push_back(node_line(graph_, id, labels));
        for (std::string& name : names_of(graph_, id, labels))
          rewrite.names.push_back(std::move(name));
      }
      first_made_ = graph_.node_limit();
      history_.rewrites.push_back(std::move(rewrite));
      return;
    }
    Rewrite& rewrite = history_.rewrites.back();
    for (std::uint32_t i = first_made_; i < graph_.node_limit(); ++i) {
      if (!graph_.alive(NodeId{i})) continue;
      rewrite.made_nodes.push_back(NodeId{i});
      rewrite.made.push_back(node_line(graph_, NodeId{i}, labels));
    }
  }

 private:
  const Graph& graph_;
  History& history_;
  std::uint32_t first_made_ = 0;
};

/// Numbers the stages of passes that run more than once.
void number_stages(std::vector<Stage>& stages) {
  std::map<std::string, std::size_t> runs;
  for (const Stage& stage : stages) ++runs[stage.record.name];
  std::map<std::string, std::size_t> seen;
  for (Stage& stage : stages)
    if (stage.is_pass() && runs[stage.record.name] > 1)
      stage.name = fmt::format("{}.{}", stage.record.name, ++seen[stage.record.name]);
}

std::string with_underscores(std::string_view name) {
  std::string result(name);
  std::replace(result.begin(), result.end(), '-', '_');
  return result;
}

std::vector<std::size_t> fitting_stages(const History& history, std::string_view name) {
  std::regex pattern;
  try {
    pattern = std::regex(name.begin(), name.end());
  } catch (const std::regex_error&) {
    throw Error(
        fmt::format("{} is neither the name of a stage nor a regular expression", in_quotes(name)));
  }
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < history.stages.size(); ++i)
    if (std::regex_match(history.stages[i].name, pattern)) found.push_back(i);
  return found;
}

void append_program(const Programs& programs, BindingTime time, std::set<NodeId>& seen,
                    std::vector<StageNode>& nodes) {
  const Graph& part = program(programs, time);
  const std::vector<NodeId>& origins = programs.origins[static_cast<std::size_t>(time)];
  for (const NodeId id : topological_order(part)) {
    const NodeId whole = origins.at(id.index);
    std::string key = fmt::format("n{}", whole.index);
    if (!seen.insert(whole).second) key += fmt::format(".{}", to_string(time));
    nodes.push_back({&part, id, whole, time, std::move(key)});
  }
}

}  // namespace

History trace(const Graph& graph, Optimizer optimizer) {
  History history;
  history.stages.push_back({.name = "raw", .graph = graph, .record = {}});
  Graph present = graph;
  PassOptions options = optimizer.options;
  options.on_rewrite = Listener(present, history);
  for (const Pass& pass : optimizer.passes) {
    PassRecord record = run_pass(pass, present, options);
    history.stages.push_back(
        {.name = pass.name, .graph = present, .record = std::move(record), .reason = pass.reason});
  }
  number_stages(history.stages);
  history.programs = split_by_binding_time(present);
  history.stages.push_back(
      {.name = "planned", .graph = std::move(present), .record = {}, .planned = true});
  history.optimizer = std::move(optimizer);
  return history;
}

std::vector<std::size_t> find_stages(const History& history, std::string_view name) {
  const std::string wanted = with_underscores(name);
  for (std::size_t i = history.stages.size(); i-- > 0;) {
    const Stage& stage = history.stages[i];
    if (stage.name == wanted || stage.record.name == wanted) return {i};
  }
  std::vector<std::size_t> found = fitting_stages(history, name);
  if (!found.empty()) return found;
  std::vector<std::string_view> names;
  std::vector<std::string_view> near;
  for (const Stage& stage : history.stages) {
    names.push_back(stage.name);
    near.push_back(stage.is_pass() ? stage.record.name : stage.name);
  }
  throw Error(fmt::format("there is no stage {}{}; there are {}", in_quotes(name),
                          did_you_mean(wanted, near), fmt::join(names, ", ")));
}

std::vector<StageNode> nodes_of(const History& history, const Stage& stage) {
  std::vector<StageNode> nodes;
  if (stage.planned) {
    std::set<NodeId> seen;
    for (const BindingTime time : {BindingTime::load, BindingTime::source, BindingTime::step})
      append_program(history.programs, time, seen, nodes);
    return nodes;
  }
  for (const NodeId id : topological_order(stage.graph))
    nodes.push_back({&stage.graph, id, id, std::nullopt, fmt::format("n{}", id.index)});
  return nodes;
}

}  // namespace fuselage
