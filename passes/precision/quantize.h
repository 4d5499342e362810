#pragma once

#include "base/quantized.h"
#include "passes/precision/precision.h"
#include "passes/rewrite/pass.h"

namespace fuselage {

/// How the columns of matrices are quantized for products of that precision, which is one of
/// integers.
Quantizer weight_quantizer(Precision precision);

/// Products with weights become products of integers:
///
///     matmul(x, W) = matmul(quantize(x), quantize(transpose(W)), transposed)
///
/// with a scale for each row of x, found when it is computed, and one for each column of W, found
/// when the model is loaded. int8 takes 127 for the largest magnitude on both sides. int16 gives
/// rows 13 bits and a sign, and columns as much of 16 bits as keeps every sum within 32 bits
/// (Devlin 2017, section 4.1, has fixed scales in its place). int4 makes columns logarithmic, with
/// fitted scales, and multiplies them with rows as those of int8; int4_log takes for these the
/// nearest of 0 and ± powers of two (Aji and Heafield 2020, sections 3.4 and 3.7). What is added to
/// products stays f32. Products made at load are quantized like all others, so that a table holds
/// what would be computed without it, on any processor. A matrix that is stored in integers has its
/// rows quantized to fit, and stored vectors are not quantized again.
///
/// bf16 and fp16 round the matrices alone, matmul(x, W) = matmul(x, cast(W)), and sums stay f32.
/// With fp32 the pass does nothing.
Pass quantize(Precision precision = Precision::fp32);

}  // namespace fuselage
