#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

#include "fuselage/base/api.h"
#include "fuselage/base/quantized.h"
#include "fuselage/graph/graph.h"

namespace FUSELAGE_API fuselage {

namespace op {

/// Parameters of quantization; see Quantizer. The last dimension is divided into `vectors` equal
/// parts, each of which is a quantized vector: f32[512] in 8 vectors becomes qint8[8, 64]. `to`
/// bf16 or f16 rounds each element, without a scale.
struct Quantization {
  DType to = DType::qint8;
  std::int64_t largest = 127;
  std::int64_t largest_sum = 0;
  bool logarithmic = false;
  double given_scale = 0;
  std::int64_t vectors = 1;
  static constexpr auto attributes() {
    return std::tuple(defaulted("to", &Quantization::to),
                      defaulted("largest", &Quantization::largest),
                      defaulted("largest_sum", &Quantization::largest_sum),
                      defaulted("logarithmic", &Quantization::logarithmic),
                      defaulted("given_scale", &Quantization::given_scale),
                      defaulted("vectors", &Quantization::vectors));
  }
};

/// Quantizes each vector to integers with a scale: operand 1 or else `given_scale`, if that
/// is positive, otherwise the minimum possible. Or rounds it to 16-bit floats, ties to even.
/// Weights in 16 bits are quantized as their numbers in f32 would be.
struct Quantize : Quantization {
  static constexpr std::string_view kName = "quantize";
};

/// Attributes of a fused op that may quantize its results: the quantized vectors of the results
/// listed in `quantized` are appended as further results.
struct QuantizedResults : Quantization {
  Dims quantized;
  static constexpr auto attributes() {
    return std::tuple_cat(std::tuple(defaulted("quantized", &QuantizedResults::quantized)),
                          Quantization::attributes());
  }
};

/// Quantized vectors converted to f32.
struct Dequantize {
  static constexpr std::string_view kName = "dequantize";
};

/// Converts weights to bf16 or f16, ties to even; 16-bit floats to f32; i32 to the nearest f32.
struct Cast {
  static constexpr std::string_view kName = "cast";
  DType to = DType::bf16;
  static constexpr auto attributes() { return std::tuple(defaulted("to", &Cast::to)); }
};

/// Transposes the matrix in each row.
struct Transpose {
  static constexpr std::string_view kName = "transpose";
};

}  // namespace op

/// Conversions between element types, and transposition.
std::span<const OpDef> quantize_ops();

/// The quantizer of a node that quantizes. It does not include the scale of operand 1 of
/// `quantize`.
Quantizer quantizer_of(const Node& node);

/// A quantizer as attributes.
op::Quantization quantization_of(const Quantizer& quantizer);

/// Indexes of the results that a node quantizes; empty if its op cannot quantize.
Dims quantized_results(const Node& node);

}  // namespace fuselage
