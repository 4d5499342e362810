#pragma once

#include "fuselage/base/api.h"
#include "fuselage/passes/motion/cost_model.h"
#include "fuselage/passes/rewrite/pass.h"

namespace FUSELAGE_API fuselage {

/// The law of row domains. A row-wise function commutes with a selection of rows, if it is also
/// applied to the default row,
///
///     f(select_rows(x, path)) = select_rows(f(x), path)
///
/// and a linear one with a mixture of rows that has one head,
///
///     f(mix_rows(a, x)) = mix_rows(a, f(x)),
///
/// so work can move along a path of maps, or a prefix of it, to the domain where it costs least.
/// Each use is decided separately by the expected time. The rules differ only in the kind of map
/// crossed and have the names of the literature: `embeddings` (Devlin 2017, section 4.2),
/// `attention` (4.3), `merge_states` (4.5), `input_projections`, `caches` (keys and values of
/// attention, once per token), and `hoist` for all other maps.
Pass commute_rows(const CommuteOptions& options = {});

}  // namespace fuselage
