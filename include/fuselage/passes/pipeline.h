#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/base/kv_cache.h"
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
  EnumSet<Precision> products = all_precisions();  ///< of the back-end, for Precision::stored
  Activations activations = Activations::exact;
  KvCache kv_cache = KvCache::fp32;
  bool recurrent_kernels = false;  ///< the back-end has kernels for whole recurrent layers
  bool quantizing_kernels = true;  ///< the back-end's kernels can quantize their results
  /// Its products round rows, and its kernels can round results. Without them weights in 16 bits
  /// are widened by the kernels that read them.
  bool rounding_kernels = false;
  bool appending_kernels = false;  ///< its kernels append rows to histories that they read
  bool position_kernels = false;   ///< its kernels add sinusoids of the positions that they read
};

/// The position of a pass in the pipeline: directly before or after another step, named by its
/// pass. Of several steps with the same pass, "simplify.2" is the second in a pipeline that has all
/// steps; a plain name is the first.
struct PassPosition {
  enum class Side : std::uint8_t { before, after };
  Side side = Side::before;
  std::string step;

  static PassPosition before(std::string step) { return {Side::before, std::move(step)}; }
  static PassPosition after(std::string step) { return {Side::after, std::move(step)}; }
};

/// Adds a pass to default_pipeline(), for `reason`. The pass runs for tables if the step at its
/// position does; where options leave out that step, it runs at the same position without it. Of
/// passes with the same position, those registered first run first. Thread-safe. Throws Error for a
/// name of the pass or of a rule that is taken, for an unknown step, and for a pass without rules
/// and function.
void register_pass(Pass pass, PassPosition position, std::string reason);

/// The passes over a whole graph in order, registered ones included, passes for tables first.
/// Splitting by binding time follows them and cannot be deselected.
std::vector<Pass> default_pipeline(const PipelineOptions& options = {});

/// The selected passes, in the order of `names`: "none", or a comma-separated list of "all", names
/// of passes, names of rules (their pass with only this rule), and "-NAME", which removes a pass or
/// rule from the list so far, even one that only other options enable. '-' and '_' are equivalent
/// within names. Throws Error for unknown names.
std::vector<Pass> select_passes(std::string_view names, const PipelineOptions& options = {});

}  // namespace fuselage
