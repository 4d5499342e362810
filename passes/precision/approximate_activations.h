#pragma once

#include "base/activations.h"
#include "passes/rewrite/pass.h"

namespace fuselage {

/// Replaces sigmoid and tanh by sigmoid_fast and tanh_fast, or by sigmoid_table and tanh_table
/// (ops/approximate_activations.h). Softmax keeps its exponential. With `exact` the pass does
/// nothing.
Pass approximate_activations(Activations activations = Activations::exact);

}  // namespace fuselage
