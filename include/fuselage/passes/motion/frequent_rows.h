#pragma once

#include "fuselage/base/api.h"
#include "fuselage/passes/motion/commute_rows.h"
#include "fuselage/passes/motion/rank_weights.h"
#include "fuselage/passes/rewrite/pass.h"

namespace FUSELAGE_API fuselage {

/// If a table of the products of all vocabulary rows with a matrix exceeds the budget, makes a
/// table for the most frequent entries and computes only the others at run time:
///
///     matmul(select_rows(E, path), W) =
///         lookup_matmul(E, W, matmul(leading_rows(E), W))
///
/// It uses the budget left by the tables of commute_rows, divided in proportion to the savings of
/// complete tables. Then, by Zipf's law, the last rows of all tables save the same time per byte.
Pass frequent_rows(const CommuteOptions& options = {}, const RankWeights& ranks = {});

}  // namespace fuselage
