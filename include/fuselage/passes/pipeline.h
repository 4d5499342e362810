#pragma once

#include <string_view>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/passes/motion/commute_rows.h"
#include "fuselage/passes/motion/frequent_rows.h"
#include "fuselage/passes/precision/approximate_activations.h"
#include "fuselage/passes/precision/quantize.h"
#include "fuselage/passes/rewrite/pass.h"

namespace FUSELAGE_API fuselage {

/// Options of the passes.
struct PipelineOptions {
  CommuteOptions commute;
  RankWeights ranks;
  Precision precision = Precision::fp32;
  Activations activations = Activations::exact;
  bool recurrent_kernels = false;  ///< the back-end has kernels for whole recurrent layers
  bool quantizing_kernels = true;  ///< the back-end's kernels can quantize their results
};

/// A step of the pipeline: a pass, and the reason for its position.
struct PipelineStep {
  Pass pass;
  std::string_view reason;
};

/// The passes over a whole graph in order, passes for tables first. Splitting by binding time
/// follows them and cannot be deselected.
std::vector<PipelineStep> default_pipeline(const PipelineOptions& options = {});

/// The selected passes, in the order of `names`: "none", or a comma-separated list of "all", names
/// of passes, names of rules (their pass with only this rule), and "-NAME", which removes a pass or
/// rule from the list so far, even one that only other options enable. '-' and '_' are equivalent
/// within names. Throws Error for unknown names.
std::vector<Pass> select_passes(std::string_view names, const PipelineOptions& options = {});

}  // namespace fuselage
