#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fuselage/passes/rewrite/pattern.h"
#include "fuselage/passes/rewrite/rewriter.h"
#include "fuselage/passes/rewrite/rule.h"

namespace fuselage {

/// The operands of attention_of_floats().
inline constexpr Capture kAttendingRows{"query"}, kKeyRows{"keys"}, kValueRows{"values"};

/// Dot-product attention to keys and values of f32.
Pattern attention_of_floats();

/// Gives the attention `root` other operands: the first ones are `rows`.
void replace_rows(Rewriter& rewriter, const Node& root, std::vector<ValueId> rows);

/// Refuses attention, the root of the match, of rows that are not computed in steps: their keys are
/// read once.
std::optional<std::string> read_once(const Match& match);

}  // namespace fuselage
