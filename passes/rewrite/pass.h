#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "passes/rewrite/rule.h"

namespace fuselage {

/// What turns a graph into a better one: a set of rules, which the driver applies until none fits,
/// or, where a pass needs to see the whole graph, a function.
struct Pass {
  std::string name;
  std::vector<Rule> rules;
  /// Used when there are no rules; returns whether it changed the graph.
  std::function<bool(Rewriter&)> run = nullptr;
  /// Number of this pass among the passes of its name in a pipeline, from 1.
  std::size_t occurrence = 1;
  /// Its work is done for a model alone, before a search is put behind it: it makes the tables that
  /// bake() stores, or what they are made of. The passes of a pipeline that are so stand first.
  bool for_tables = false;
};

/// Switches of the pass manager, all at run time.
struct PassOptions {
  bool verify = true;                ///< verify the graph after each pass that changed it
  bool verify_each_rewrite = false;  ///< and after each application of a rule
  bool check_hash = true;            ///< compare what a pass reports with the graph's hash
  std::size_t max_rewrites = 0;      ///< of one rule set; 0: in proportion to the graph's size
  bool allow_reassociation = true;
  bool allow_approximation = false;
  bool allow_quantization = false;
  /// Called after each pass, as for dumps.
  std::function<void(std::string_view pass, const Graph& graph, bool changed)> on_after_pass =
      nullptr;
  /// Called around each application of a rule, as for explanations: with `done` false while the
  /// match still stands, and with `done` true when only its ids hold.
  std::function<void(const Rule& rule, const Match& match, bool done)> on_rewrite = nullptr;

  bool allows(NumericClass numeric_class) const;
};

/// What one pass did.
struct PassRecord {
  std::string name;
  std::size_t occurrence = 1;
  double seconds = 0;  ///< that it took, checks included
  bool changed = false;
  std::map<std::string, std::size_t> rewrites;  ///< how often each rule was applied
  std::vector<Refusal> refusals;                ///< about nodes that are still there
  std::vector<std::string> skipped;             ///< rules whose numeric class is not allowed
};

}  // namespace fuselage
