#pragma once

#include <string_view>
#include <vector>

#include "passes/motion/commute_rows.h"
#include "passes/motion/frequent_rows.h"
#include "passes/precision/approximate_activations.h"
#include "passes/precision/quantize.h"
#include "passes/rewrite/pass.h"

namespace fuselage {

/// Settings of passes that have some.
struct PipelineOptions {
  CommuteOptions commute;
  RankWeights ranks;
  Precision precision = Precision::fp32;
  Activations activations = Activations::exact;
  bool recurrent_kernels = false;  ///< what runs the graph has kernels for whole recurrent layers
  bool quantizing_kernels = true;  ///< what runs the graph can quantize results as it makes them
};

/// A line of the pipeline: a pass, and why it stands where it stands.
struct PipelineStep {
  Pass pass;
  std::string_view reason;
};

/// The passes over a whole graph, in order: those for tables first. Splitting by binding time comes
/// after them and is no choice of the user's.
std::vector<PipelineStep> default_pipeline(const PipelineOptions& options = {});

/// The passes that `names` asks for, run in that order: "none", or with commas between "all", names
/// of passes, names of rules, which stand for their pass with this rule alone, and "-NAME", which
/// leaves a pass or a rule out of what stands before it, even if only other options bring it. '-'
/// and '_' are the same within names. Throws Error naming what is unknown.
std::vector<Pass> select_passes(std::string_view names, const PipelineOptions& options = {});

}  // namespace fuselage
