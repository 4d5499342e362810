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

/// A condition on a match. It answers with the reason when it refuses. Guards do not rely on each
/// other: all of them are asked about every match.
struct Guard {
  std::string name;
  std::function<std::optional<std::string>(const Match&)> refuse;
};

/// A rewrite as data: where `pattern` fits and no guard refuses, `build` puts something better
/// there.
struct Rule {
  std::string name;
  Pattern pattern;
  std::vector<Guard> guards;
  Numerics numerics;
  std::function<void(Rewriter&, const Match&)> build;
};

/// A match that a guard refused.
struct Refusal {
  std::string rule;
  std::string node;  ///< the root, as Graph::describe shows it
  std::string guard;
  std::string reason;
};

/// The rule's guards, and single_use() when it takes over inner nodes.
std::vector<Guard> all_guards(const Rule& rule);

/// Asks all guards; empty when the rule may be applied.
std::vector<Refusal> ask_guards(const Rule& rule, const Match& match);

// Guards that many rules share.

/// No inner node that the rule takes over has a user outside of the match or is an output.
Guard single_use();
/// The captured value has the type of the root's result.
Guard same_type(std::string capture);
/// The nodes that the rule takes over have the rows of the root, so that it moves no work to a
/// later binding time or to a larger domain.
Guard same_rows();

}  // namespace fuselage
