#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "decoding/product_ranges.h"
#include "models/quantized/quantize_model.h"

namespace fuselage {

/// A line for each matrix with its precision by name, its bits and bytes in the file, and its
/// errors as stored and with the alternative quantizers `others`; and the reduction of the weights'
/// size.
std::string print_matrices(const StoredWeights& weights,
                           const std::function<std::string(const std::string& name)>& precision_of,
                           const std::vector<std::string>& others);

/// A line for each product with the range of its left operand.
std::string print_ranges(const std::vector<ProductRange>& ranges);

/// A summary of the results in one sentence; `precisions` names all that matrices are stored for.
std::string summarize(const StoredWeights& weights, std::string_view precisions);

}  // namespace fuselage
