#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/backends/compile.h"
#include "fuselage/base/api.h"
#include "fuselage/graph/graph.h"
#include "fuselage/passes/lowering/split_by_binding_time.h"

namespace FUSELAGE_API fuselage {

/// A graph at one moment of its compilation.
struct Stage {
  /// "raw"; the name of a pass, for the graph after it; or "planned", for the split programs. A
  /// pass that runs several times is numbered: "simplify.1", "simplify.2".
  std::string name;
  Graph graph;
  PassRecord record;        ///< record of the pass; without a name for "raw" and "planned"
  std::string reason = {};  ///< for the position of the pass in the pipeline
  bool planned = false;

  bool is_pass() const { return !record.name.empty(); }
};

/// One application of a rule, recorded while its nodes existed.
struct Rewrite {
  std::size_t stage = 0;  ///< index of the stage of its pass
  std::string rule;
  NodeId root;
  std::vector<NodeId> matched_nodes;  ///< root first
  std::vector<NodeId> made_nodes;
  std::string where;                 ///< the root, as Graph::describe shows it
  std::vector<std::string> names;    ///< labels, names and origins of the matched nodes
  std::vector<std::string> matched;  ///< lines in the form of node_line, root first
  std::vector<std::string> made;
};

/// The graph after each pass of the optimizer. A node has the same id in all stages.
struct History {
  std::vector<Stage> stages;  ///< "raw", the passes, "planned"
  std::vector<Rewrite> rewrites;
  Programs programs;  ///< programs of the stage "planned"
  Optimizer optimizer;

  const Graph& raw() const { return stages.front().graph; }
  const Graph& optimized() const { return stages.back().graph; }
};

/// Runs the passes of `optimizer` and keeps the graph after each pass.
History trace(const Graph& graph, Optimizer optimizer);

/// Indexes of the stages for `name`: the last stage of this name ('-' and '_' are the same, and the
/// number of a pass may be omitted), or else all stages whose names match it as a regular
/// expression. Throws Error naming the stages when there is none.
std::vector<std::size_t> find_stages(const History& history, std::string_view name);

/// A node of a stage.
struct StageNode {
  const Graph* graph = nullptr;  ///< the whole graph, or one of the three programs
  NodeId id;
  NodeId whole;                        ///< the node in the whole graph
  std::optional<BindingTime> program;  ///< the program, in the stage "planned" only
  /// Unique within a stage, and equal in all stages: "n12"; "n12.step" for an import of a program,
  /// and for a node that another program has too.
  std::string key;
};

/// All nodes of a stage, producers before users.
std::vector<StageNode> nodes_of(const History& history, const Stage& stage);

}  // namespace fuselage
