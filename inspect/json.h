#pragma once

#include <string>
#include <vector>

#include "inspect/diff.h"
#include "inspect/explain.h"
#include "inspect/report.h"

namespace fuselage {

// Dumps as JSON; docs/inspect-a-graph.md describes the fields. `version` increases when a field is
// removed or changes its meaning.

/// The report, indented.
std::string print_json(const Report& report);

/// The same on one line, with each node stored once in `nodes`; the stages in `pooled` list indexes
/// of `nodes`.
std::string print_pooled_json(const Report& report);

std::string print_json(const StageDiff& diff, const Stage& before, const Stage& after);
std::string print_json(const std::vector<Verdict>& verdicts);

}  // namespace fuselage
