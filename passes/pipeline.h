#pragma once

#include <string_view>
#include <vector>

#include "passes/commute_rows.h"
#include "passes/pass.h"

namespace fuselage {

/// Settings of passes that have some.
struct PipelineOptions {
  CommuteOptions commute;
};

/// A line of the pipeline: a pass, and why it stands where it stands.
struct PipelineStep {
  Pass pass;
  std::string_view reason;
};

/// The passes over a whole graph, in order. Splitting by binding time comes after them and is no
/// choice of the user's.
std::vector<PipelineStep> default_pipeline(const PipelineOptions& options = {});

/// The passes that `names` asks for: "all", "none", or names with commas between, run in that
/// order. Throws Error naming what is unknown.
std::vector<Pass> select_passes(std::string_view names, const PipelineOptions& options = {});

}  // namespace fuselage
