#pragma once

#include <string>

#include "fuselage/base/api.h"
#include "fuselage/inspect/report.h"

namespace FUSELAGE_API fuselage {

/// Two reports to show beside each other: of two models, or of one with two settings. Both have a
/// summary.
struct Comparison {
  Report left, right;
  std::string left_title, right_title;
};

/// The optimized figures of both with their ratios, then what only one of them fused or moved.
std::string print_comparison(const Comparison& comparison);

/// A document with both reports; docs/inspect-a-graph.md describes the fields.
std::string print_comparison_json(const Comparison& comparison);

/// A self-contained HTML page with the pages of both (print_page) beside each other, which move
/// through the stages together, below a table of their figures.
std::string print_comparison_page(const Comparison& comparison);

}  // namespace fuselage
