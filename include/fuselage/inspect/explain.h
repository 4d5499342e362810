#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/inspect/stages.h"

namespace FUSELAGE_API fuselage {

/// The result of a rule at one node: its rewrite, or the reason for none.
struct Verdict {
  enum class Kind : std::uint8_t {
    fired,
    refused,      ///< the pattern fits, guards refuse
    no_fit,       ///< the pattern does not fit
    not_allowed,  ///< the rule's numeric class is not allowed
  };
  Kind kind = Kind::fired;
  std::string stage, rule;
  std::string numerics;              ///< "exact", or the numeric class with its promise
  std::string where;                 ///< the root, or the node of the question
  std::vector<std::string> matched;  ///< lines, root first
  std::vector<std::string> made;     ///< fired: lines
  std::vector<Refusal> refusals;     ///< refused
  std::string reason;                ///< no_fit, not_allowed
};

/// Answers "RULE@NODE": why the rule fired at a node, or why not. NODE is a value's name or label,
/// an origin's name, or "*" for all matches of the rule's pattern. A pass that is a single function
/// is named in place of a rule. Throws Error for an unknown rule or node.
std::vector<Verdict> explain(const History& history, std::string_view question);

std::string_view to_string(Verdict::Kind kind);

/// A paragraph for each verdict.
std::string print_verdicts(const std::vector<Verdict>& verdicts);

}  // namespace fuselage
