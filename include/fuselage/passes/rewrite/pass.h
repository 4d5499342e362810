#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/passes/rewrite/rule.h"

namespace FUSELAGE_API fuselage {

/// A transformation of a graph: a set of rules, which the driver applies until none applies, or a
/// function, for a pass that needs the whole graph.
struct Pass {
  std::string name = {};
  std::vector<Rule> rules = {};
  /// Used if there are no rules; returns whether it changed the graph.
  std::function<bool(Rewriter&)> run = nullptr;
  /// Number of this pass among the passes of its name in a pipeline, from 1.
  std::size_t occurrence = 1;
  /// The reason for its position in a pipeline.
  std::string reason = {};
  /// The pass does not depend on the search head: it makes the tables that bake() stores, or
  /// prepares them. Such passes come first in a pipeline.
  bool for_tables = false;
  /// Who registered it: "the extension FILE" or "this program"; empty for passes of the tree.
  /// register_pass sets it.
  std::string registered_by = {};
};

/// Run-time options of the pass manager.
struct PassOptions {
  bool verify = true;                ///< verify the graph after each pass that changed it
  bool verify_each_rewrite = false;  ///< and after each application of a rule
  bool check_hash = true;            ///< compare what a pass reports with the graph's hash
  std::size_t max_rewrites = 0;      ///< per rule set; 0: proportional to the size of the graph
  bool allow_reassociation = true;
  bool allow_approximation = false;
  bool allow_quantization = false;
  /// Called after each pass, for example for dumps.
  std::function<void(std::string_view pass, const Graph& graph, bool changed)> on_after_pass =
      nullptr;
  /// Called before and after each application of a rule, for example for explanations: with `done`
  /// false while the match is valid, and with `done` true when only its ids are.
  std::function<void(const Rule& rule, const Match& match, bool done)> on_rewrite = nullptr;

  bool allows(NumericClass numeric_class) const;
};

/// The record of one pass.
struct PassRecord {
  std::string name;
  std::size_t occurrence = 1;
  double seconds = 0;  ///< duration with checks, without PassOptions::on_rewrite
  bool changed = false;
  std::map<std::string, std::size_t> rewrites;  ///< number of applications by rule
  std::vector<Refusal> refusals;                ///< of nodes that still exist
  std::vector<std::string> skipped;             ///< rules whose numeric class is not allowed
};

}  // namespace fuselage
