#pragma once

#include "passes/motion/cost_model.h"
#include "passes/rewrite/pass.h"

namespace fuselage {

/// The law of row domains. A row-wise function commutes with a selection of rows, the default row
/// mapped too,
///
///     f(select_rows(x, path)) = select_rows(f(x), path)
///
/// and a linear one with a mixture of rows that has one head,
///
///     f(mix_rows(a, x)) = mix_rows(a, f(x)),
///
/// so work can move to the domain where it costs least: along a whole path of maps or a part of it.
/// Each use is decided on its own by the expected time. The rules differ only in what is crossed,
/// and bear the names under which the literature knows them: `embeddings` (Devlin 2017,
/// section 4.2), `attention` (4.3), `merge_states` (4.5), `input_projections`, `caches` (keys and
/// values of attention, once per token) and `hoist` for anything else.
Pass commute_rows(const CommuteOptions& options = {});

}  // namespace fuselage
