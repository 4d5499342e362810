#pragma once

#include <map>
#include <string>

#include "passes/motion/commute_rows.h"
#include "passes/rewrite/pass.h"

namespace fuselage {

/// By the name of a vocabulary's domain: the weight that has the rank of each entry, an i32, 0 for
/// the most frequent one. Without it entries count as sorted by frequency.
using RankWeights = std::map<std::string, std::string>;

/// Where the product of a looked-up row with a matrix is too large to be made for a whole
/// vocabulary, it is made for the most frequent entries, and only the others are computed:
///
///     matmul(select_rows(E, path), W) =
///         lookup_matmul(E, W, matmul(leading_rows(E), W))
///
/// It takes what the tables of commute_rows leave of the budget. By Zipf's law the last rows of two
/// tables save the same for their size when memory is shared in proportion to what the complete
/// tables would save.
Pass frequent_rows(const CommuteOptions& options = {}, const RankWeights& ranks = {});

}  // namespace fuselage
