#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "fuselage/base/quantized.h"

namespace fuselage {

/// Quantized vectors as plain tensors, for file formats that have no quantized types. Integers of
/// qint8 and qint16 are i8 and i16 in the shape of the vectors; integers of qlog4 are bytes of two
/// nibbles, u8 of shape [..., (k + 1) / 2]. Scales have the shape without its last dimension; they
/// are bf16 if that represents all of them exactly, else f32.
struct QuantizedParts {
  Tensor integers, scales;
};

QuantizedParts split_quantized(const Tensor& tensor);

/// The inverse for i8 and i16. Throws Error, which begins with `where`, when types or shapes do not
/// match, and for the minimum of the integer type, whose negation is not representable.
Tensor join_quantized(const QuantizedParts& parts, const std::string& where);

/// The inverse for u8, for vectors of `k` elements. Throws Error, which begins with `where`, when
/// types or shapes do not match, and when a nibble past the end of a vector is not 0.
Tensor join_nibbles(const QuantizedParts& parts, std::int64_t k, const std::string& where);

/// A model's weights as plain tensors: a quantized weight NAME becomes its integers, NAME, and its
/// scales, NAME.scale. Throws Error if another weight is named NAME.scale.
TensorMap split_quantized_weights(const TensorMap& weights);

/// Vector lengths by weight name.
using VectorLengths = std::map<std::string, std::int64_t>;

/// The inverse: i8 and i16 tensors NAME with a tensor NAME.scale become quantized, and so do u8
/// tensors that `nibbles` lists. Throws the errors of join_quantized and join_nibbles; `where`
/// names the file.
TensorMap join_quantized_weights(const TensorMap& stored, const VectorLengths& nibbles,
                                 const std::string& where);

}  // namespace fuselage
