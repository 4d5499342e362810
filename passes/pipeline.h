#pragma once

#include <string_view>
#include <vector>

#include "passes/pass.h"

namespace fuselage {

/// A line of the pipeline: a pass, and why it stands where it stands.
struct PipelineStep {
  Pass pass;
  std::string_view reason;
};

/// The passes over a whole graph, in order. Splitting by binding time comes after them and is no
/// choice of the user's.
const std::vector<PipelineStep>& default_pipeline();

/// The passes that `names` asks for: "all", "none", or names with commas between, run in that
/// order. Throws Error naming what is unknown.
std::vector<const Pass*> select_passes(std::string_view names);

}  // namespace fuselage
