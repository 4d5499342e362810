#pragma once

#include <string>
#include <vector>

#include "inspect/diff.h"
#include "inspect/explain.h"
#include "inspect/report.h"

namespace fuselage {

// Dumps as JSON; docs/inspect-a-graph.md says what is in them. `version` counts up when a field
// goes or changes its meaning.

/// The report, indented.
std::string print_json(const Report& report);

/// The same on one line and with each node once: the stages of `pooled` have numbers of `nodes`.
std::string print_pooled_json(const Report& report);

std::string print_json(const StageDiff& diff, const Stage& before, const Stage& after);
std::string print_json(const std::vector<Verdict>& verdicts);

}  // namespace fuselage
