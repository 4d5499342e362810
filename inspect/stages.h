#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/compile.h"
#include "graph/graph.h"
#include "passes/lowering/split_by_binding_time.h"

namespace fuselage {

/// A graph at one moment of its compilation.
struct Stage {
  /// "raw", the pass behind which it is, or "planned", where the programs are cut. A pass that runs
  /// several times has numbers: "simplify.1", "simplify.2".
  std::string name;
  Graph graph;
  PassRecord record;  ///< of the pass; without a name for "raw" and "planned"
  bool planned = false;

  bool is_pass() const { return !record.name.empty(); }
};

/// One application of a rule, written down while its nodes were there.
struct Rewrite {
  std::size_t stage = 0;  ///< the pass in which it happened, by number of its stage
  std::string rule;
  NodeId root;
  std::vector<NodeId> matched_nodes;  ///< root first
  std::vector<NodeId> made_nodes;
  std::string where;                 ///< the root, as Graph::describe shows it
  std::vector<std::string> names;    ///< labels, names and origins of the matched nodes
  std::vector<std::string> matched;  ///< lines as node_line writes them, root first
  std::vector<std::string> made;
};

/// What the optimizer made of a graph, from pass to pass. Nodes keep their ids in all stages.
struct History {
  std::vector<Stage> stages;  ///< "raw", the passes, "planned"
  std::vector<Rewrite> rewrites;
  Programs programs;  ///< of "planned"
  Optimizer optimizer;

  const Graph& raw() const { return stages.front().graph; }
  const Graph& optimized() const { return stages.back().graph; }
};

/// Runs the passes of `optimizer` and keeps the graph behind each.
History trace(const Graph& graph, Optimizer optimizer);

/// Numbers of the stages that `name` stands for: the last one of that name ('-' and '_' are the
/// same, a pass may go without its number), or else all whose names fit it as a regular expression.
/// Throws Error naming the stages when there is none.
std::vector<std::size_t> find_stages(const History& history, std::string_view name);

/// A node as a stage shows it.
struct StageNode {
  const Graph* graph = nullptr;  ///< in one piece, or one of the three programs
  NodeId id;
  NodeId whole;                        ///< the node of the graph in one piece
  std::optional<BindingTime> program;  ///< of the stage "planned" alone
  /// Distinct within the stage and the same in all: "n12"; "n12.step" for what a program imports
  /// or has beside another one.
  std::string key;
};

/// All nodes of a stage, producers before users.
std::vector<StageNode> nodes_of(const History& history, const Stage& stage);

}  // namespace fuselage
