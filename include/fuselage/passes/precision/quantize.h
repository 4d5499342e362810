#pragma once

#include "fuselage/base/api.h"
#include "fuselage/base/enum_set.h"
#include "fuselage/base/precision.h"
#include "fuselage/base/quantized.h"
#include "fuselage/passes/rewrite/pass.h"

namespace FUSELAGE_API fuselage {

/// The quantizer of matrix columns for an integer precision.
Quantizer weight_quantizer(Precision precision);

/// All precisions.
constexpr EnumSet<Precision> all_precisions() {
  return {Precision::fp32, Precision::bf16, Precision::fp16,     Precision::int16,
          Precision::int8, Precision::int4, Precision::int4_log, Precision::stored};
}

/// Replaces products with weights by integer products:
///
///     matmul(x, W) = matmul(quantize(x), quantize(transpose(W)), transposed)
///
/// with a scale per row of x, computed at run time, and a scale per column of W, computed at load.
/// int8 maps the maximum magnitude to 127 on both sides. int16 gives rows 13 bits and a sign, and
/// columns as many of 16 bits as keep every sum within 32 bits (Devlin 2017, section 4.1, uses
/// fixed scales instead). int4 makes columns logarithmic, with fitted scales, and quantizes rows as
/// int8; int4_log rounds rows to 0 and ± powers of two (Aji and Heafield 2020, sections 3.4 and
/// 3.7). Biases stay f32. Products computed at load are quantized too, so that a table holds the
/// same numbers that would be computed without it, on any processor. For a matrix stored in
/// integers only the rows are quantized, to fit its type; stored vectors are not quantized again.
///
/// bf16 and fp16 round only the matrices, matmul(x, W) = matmul(x, cast(W)); sums stay f32. With
/// fp32 the pass does nothing.
///
/// With `stored` each product is replaced as for the precision of the type in which the model
/// stores its matrix (int4 for qlog4), if the back-end has products in that precision, which
/// `products` lists. Products with other matrices stay f32.
Pass quantize(Precision precision = Precision::fp32,
              const EnumSet<Precision>& products = all_precisions());

}  // namespace fuselage
