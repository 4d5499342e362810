#pragma once

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Adds the biases of a product's parts to the whole product, so that the sum can be the product's
/// epilogue: slice(x W, i) + bᵢ for all parts i is slice(x W + concat(b₀, b₁, …), i).
Pass merge_biases();

}  // namespace fuselage
