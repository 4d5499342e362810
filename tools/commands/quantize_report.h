#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "decoding/product_ranges.h"
#include "models/quantized/quantize_model.h"

namespace fuselage {

/// A line for each matrix, with its errors as stored and in the alternatives called `others`, and
/// how much smaller the weights have become.
std::string print_matrices(const StoredWeights& weights, std::string_view precision,
                           const std::vector<std::string>& others);

/// A line for each product, with the range of what it multiplies.
std::string print_ranges(const std::vector<ProductRange>& ranges);

/// The whole in a sentence.
std::string summarize(const StoredWeights& weights, std::string_view precision);

}  // namespace fuselage
