#pragma once

#include <cstdint>

#include "fuselage/base/quantized.h"

namespace fuselage {

/// A scale for the k numbers at x by which their nearest integers, of magnitude at most
/// `quantizer.largest`, have a small squared error: of a few shares of the scale that reaches the
/// largest magnitude the best, then in turn the nearest integers and the least-squares scale for
/// them (Lloyd 1982, "Least squares quantization in PCM", with levels at equal distances). It is
/// representable in bf16, unless the scale that reaches the largest magnitude reproduces all
/// numbers, and then it is that one. 0 or NaN as quantization_scale gives them.
float fitted_scale(const Quantizer& quantizer, const float* x, std::int64_t k);

}  // namespace fuselage
