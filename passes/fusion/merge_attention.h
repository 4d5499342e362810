#pragma once

#include "fuselage/passes/rewrite/pass.h"
#include "fuselage/passes/workload.h"

namespace fuselage {

/// The law of row domains for fused attention: if hypotheses take their query from their parents,
/// attention runs once per parent, and siblings share scores and mixture (Devlin 2017, section 4.5,
/// for a decoder that attends from its previous state).
Pass merge_attention(const Workload& workload = {});

}  // namespace fuselage
