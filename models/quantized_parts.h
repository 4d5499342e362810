#pragma once

#include <string>

#include "base/quantized.h"

namespace fuselage {

/// Quantized vectors in the way of files that know plain tensors only: i8 or i16 integers in the
/// vectors' own shape, and f32 scales in that shape without its last dimension.
struct QuantizedParts {
  Tensor integers, scales;
};

QuantizedParts split_quantized(const Tensor& tensor);

/// The inverse. Throws Error, which begins with `where`, when types or shapes do not fit each
/// other, and for the least integer of the type, which has no negative.
Tensor join_quantized(const QuantizedParts& parts, const std::string& where);

/// A model's weights as plain tensors: a quantized one called NAME becomes NAME, its integers, and
/// NAME.scale. Throws Error when a weight of that name is there already.
TensorMap split_quantized_weights(const TensorMap& weights);

/// The inverse: i8 and i16 tensors that have a tensor NAME.scale beside them become quantized.
/// Throws Error as join_quantized does; `where` names the file.
TensorMap join_quantized_weights(const TensorMap& stored, const std::string& where);

}  // namespace fuselage
