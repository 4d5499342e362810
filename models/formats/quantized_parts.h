#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "fuselage/base/quantized.h"

namespace fuselage {

/// Quantized vectors as plain tensors, for file formats that have no quantized types. Integers of
/// qint8 and qint16 are i8 and i16 in the shape of the vectors. Numbers of qlog4, and integers of
/// qint8 that fit 4 bits, are packed in as few bits as hold all of a tensor's (packed_logarithms.h,
/// packed_integers.h): u8 of shape [..., bytes of k numbers].
/// Scales have the shape without its last dimension; they are bf16 if that represents all of them
/// exactly, else f32.
struct QuantizedParts {
  Tensor integers, scales;
};

QuantizedParts split_quantized(const Tensor& tensor);

/// Throws Error, which begins with `where`, if one of the integers of a qint8 or qint16 tensor is
/// the minimum of its type, whose negation is not representable.
void expect_no_least(DType dtype, const std::byte* integers, std::int64_t count,
                     const std::string& where);

/// The inverse for i8 and i16. Throws Error, which begins with `where`, when types or shapes do not
/// match, and what expect_no_least does.
Tensor join_quantized(const QuantizedParts& parts, const std::string& where);

/// The type and the length of the vectors of a parameter that may be packed: qlog4 or qint8.
struct PackedVectors {
  DType dtype = DType::qlog4;
  std::int64_t k = 0;
};

/// The inverse for u8. The bytes of a vector determine the bits of a number (packed_bits). Throws
/// Error, which begins with `where`, when types or shapes do not match, and when a bit is set where
/// no number is: past the end of a vector or, for qlog4 with fewer bits than 4, in a vector whose
/// scale is 0 or NaN; for qint8 also for a minimum integer, whose negation is not representable.
Tensor join_packed(const QuantizedParts& parts, const PackedVectors& vectors,
                   const std::string& where);

/// Bits of a number and bytes of a weight in a model directory, the bytes with scales.
int file_bits(const Tensor& weight);
std::size_t file_bytes(const Tensor& weight);

/// A model's weights as plain tensors: a quantized weight NAME becomes its integers, NAME, and its
/// scales, NAME.scale. Throws Error if another weight is named NAME.scale.
TensorMap split_quantized_weights(const TensorMap& weights);

/// Vectors that may be packed, by the name of their weight.
using PackedWeights = std::map<std::string, PackedVectors>;

/// The inverse: i8 and i16 tensors NAME with a tensor NAME.scale become quantized, and so do u8
/// tensors that `packed` lists. Throws the errors of join_quantized and join_packed; `where` names
/// the file.
TensorMap join_quantized_weights(const TensorMap& stored, const PackedWeights& packed,
                                 const std::string& where);

}  // namespace fuselage
