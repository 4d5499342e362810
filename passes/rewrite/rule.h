#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "passes/rewrite/pattern.h"
#include "passes/rewrite/rewriter.h"

namespace fuselage {

/// What a rule does to numbers.
enum class NumericClass : std::uint8_t {
  exact,         ///< the same bits for all inputs (any NaN counts as any other)
  reassociates,  ///< equal in real arithmetic; rounding or the sign of a zero may differ
  approximates,  ///< differs by a stated tolerance; runs only when asked
  quantizes,     ///< differs by what a stated metric allows; runs only when asked
};

std::string_view to_string(NumericClass numeric_class);

/// A rule's numeric class, and what it promises where that is not bits.
struct Numerics {
  NumericClass kind = NumericClass::exact;
  double tolerance = 0;  ///< largest difference relative to the larger of 1 and the value
  std::string promise;   ///< in words: what may differ, or the metric of a quantization
};

/// A condition on a match. `refuse` returns the reason when it refuses. Guards are independent: all
/// of them are asked about every match.
struct Guard {
  std::string name;
  std::function<std::optional<std::string>(const Match&)> refuse;
  /// Captures that it reads besides those of its rule's file, as a guard that rules share does.
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

/// Throws InternalError with the rule's name when a guard reads a capture that the pattern does not
/// have, or the rule cannot build.
void check_rule(const Rule& rule);

/// A match that a guard refused.
struct Refusal {
  std::string rule;
  std::string node;  ///< the root, as Graph::describe shows it
  std::string guard;
  std::string reason;
};

/// The rule's guards, and single_use() when it consumes inner nodes.
std::vector<Guard> all_guards(const Rule& rule);

/// Asks all guards; empty when the rule may be applied.
std::vector<Refusal> ask_guards(const Rule& rule, const Match& match);

// Guards that many rules share.

/// No inner node that the rule consumes has a user outside of the match or is an output.
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
