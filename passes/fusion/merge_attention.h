#pragma once

#include "passes/rewrite/pass.h"
#include "passes/workload.h"

namespace fuselage {

/// The law of row domains for whole attention: where the query of each hypothesis is that of its
/// parent, the pairs are those of parents, and siblings share scores and mixture (Devlin 2017,
/// section 4.5, for a decoder that attends from its previous state).
Pass merge_attention(const Workload& workload = {});

}  // namespace fuselage
