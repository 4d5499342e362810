#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/quantized.h"

namespace fuselage {

/// Quantized vectors in the way of files that know plain tensors only. Integers of qint8 and qint16
/// are i8 and i16 in the vectors' own shape; of qlog4, bytes of two nibbles, as u8 in the shape
/// [..., (k + 1) / 2]. Scales have the shape without its last dimension; they are bf16 where that
/// holds all of them, and f32 elsewhere.
struct QuantizedParts {
  Tensor integers, scales;
};

QuantizedParts split_quantized(const Tensor& tensor);

/// The inverse for i8 and i16. Throws Error, which begins with `where`, when types or shapes do not
/// fit each other, and for the least integer of the type, which has no negative.
Tensor join_quantized(const QuantizedParts& parts, const std::string& where);

/// The inverse for u8, of vectors of `k` elements. Throws Error, which begins with `where`, when
/// types or shapes do not fit each other, and where a nibble behind a vector's end is not 0.
Tensor join_nibbles(const QuantizedParts& parts, std::int64_t k, const std::string& where);

/// A model's weights as plain tensors: a quantized one called NAME becomes NAME, its integers, and
/// NAME.scale. Throws Error when a weight of that name is there already.
TensorMap split_quantized_weights(const TensorMap& weights);

/// The lengths of vectors by the name of their weight.
using VectorLengths = std::map<std::string, std::int64_t>;

/// The inverse: i8 and i16 tensors that have a tensor NAME.scale beside them become quantized, and
/// so do u8 ones that `nibbles` knows the length of. Throws Error as join_quantized and
/// join_nibbles do; `where` names the file.
TensorMap join_quantized_weights(const TensorMap& stored, const VectorLengths& nibbles,
                                 const std::string& where);

}  // namespace fuselage
