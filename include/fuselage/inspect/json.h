#pragma once

#include <string>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/inspect/diff.h"
#include "fuselage/inspect/explain.h"
#include "fuselage/inspect/report.h"

namespace FUSELAGE_API fuselage {

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
