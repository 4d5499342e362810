#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/passes/rewrite/pattern.h"
#include "fuselage/passes/rewrite/rewriter.h"

namespace FUSELAGE_API fuselage {

/// The effect of a rule on numeric results.
enum class NumericClass : std::uint8_t {
  exact,         ///< the same bits for all inputs (any NaN counts as any other)
  reassociates,  ///< equal in real arithmetic; rounding or the sign of a zero may differ
  approximates,  ///< differs by a stated tolerance; runs only on request
  quantizes,     ///< differs within a stated metric; runs only on request
};

std::string_view to_string(NumericClass numeric_class);

/// A rule's numeric class and, unless exact, its promise.
struct Numerics {
  NumericClass kind = NumericClass::exact;
  double tolerance = 0;  ///< maximum difference relative to max(1, |value|)
  std::string promise;   ///< in words: what may differ, or the metric of a quantization
};

/// A condition on a match. `refuse` returns the reason for a refusal, else nullopt. Guards are
/// independent: every match is checked by all of them.
struct Guard {
  std::string name;
  std::function<std::optional<std::string>(const Match&)> refuse;
  /// Captures that the guard reads, for check_rule(); set by guards shared between files.
  std::vector<Capture> reads = {};
};

/// A rewrite as data: if the pattern matches and no guard refuses, `build` replaces the match.
struct Rule {
  std::string name;
  Pattern pattern;
  /// Analyzes a match once, for guards and builder, which read Match::analysis; may be empty.
  Analyze analyze = nullptr;
  std::vector<Guard> guards;
  Numerics numerics;
  std::function<void(Rewriter&, const Match&)> build;
};

/// All matches of a rule at `root`.
std::vector<Match> find_matches(const Rule& rule, const Graph& graph, NodeId root);

/// Throws InternalError with the rule's name if a guard reads a capture that the pattern lacks, if
/// two captures have the same text, or if the rule has no builder.
void check_rule(const Rule& rule);

/// Checks the rules of a pass, and that no two of them have the same name.
void check_rules(std::string_view pass, const std::vector<Rule>& rules);

/// A match that a guard refused.
struct Refusal {
  std::string rule;
  std::string node;  ///< the root, as Graph::describe shows it
  std::string guard;
  std::string reason;
};

/// The rule's guards, plus single_use() if it consumes inner nodes.
std::vector<Guard> all_guards(const Rule& rule);

/// The refusals of all guards; empty if the rule may be applied.
std::vector<Refusal> ask_guards(const Rule& rule, const Match& match);

// Guards shared by many rules.

/// No consumed inner node is an output or has users outside of the match.
Guard single_use();
/// The captured value has the type of the root's result.
Guard same_type(Capture capture);
/// The captured product has several columns; it refuses one column with `consequence`.
Guard several_columns(Capture product, std::string consequence);
/// The captured weights of a mixture are of one head.
Guard one_head(Capture weights);
/// The reason of one_head().
std::optional<std::string> several_heads(const Graph& graph, ValueId weights);
/// The nodes that the rule consumes have the rows of the root, so that it moves no work to a later
/// binding time or to a larger domain.
Guard same_rows();

}  // namespace fuselage
