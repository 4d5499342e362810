#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "decoding/product_ranges.h"
#include "models/quantized/quantize_model.h"

namespace fuselage {

/// A line for each matrix with its errors in `precision` and in the alternatives `others`, and the
/// reduction of the weights' size.
std::string print_matrices(const StoredWeights& weights, std::string_view precision,
                           const std::vector<std::string>& others);

/// A line for each product with the range of its left operand.
std::string print_ranges(const std::vector<ProductRange>& ranges);

/// A summary of the results in one sentence.
std::string summarize(const StoredWeights& weights, std::string_view precision);

}  // namespace fuselage
