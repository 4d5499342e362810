#pragma once

#include "fuselage/base/activations.h"
#include "fuselage/base/api.h"
#include "fuselage/passes/rewrite/pass.h"

namespace FUSELAGE_API fuselage {

/// Replaces sigmoid and tanh by sigmoid_fast and tanh_fast, or by sigmoid_table and tanh_table
/// (ops/arithmetic/approximate_activations.h). Softmax keeps its exponential. With `exact` the pass
/// does nothing.
Pass approximate_activations(Activations activations = Activations::exact);

}  // namespace fuselage
