#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

#include "base/quantized.h"
#include "graph/graph.h"

namespace fuselage {

namespace op {

/// How an op quantizes vectors; see Quantizer.
struct Quantization {
  DType to = DType::qint8;
  std::int64_t largest = 127;
  std::int64_t largest_sum = 0;
  bool logarithmic = false;
  static constexpr auto attributes() {
    return std::tuple(defaulted("to", &Quantization::to),
                      defaulted("largest", &Quantization::largest),
                      defaulted("largest_sum", &Quantization::largest_sum),
                      defaulted("logarithmic", &Quantization::logarithmic));
  }
};

/// Each vector as integers that share a scale: the least possible, or operand 1 where it is
/// positive.
struct Quantize : Quantization {
  static constexpr std::string_view kName = "quantize";
};

/// Attributes of a fused op that may quantize its results: it gives the quantized vectors of the
/// results that `quantized` lists, as further results behind all others.
struct QuantizedResults : Quantization {
  Dims quantized;
  static constexpr auto attributes() {
    return std::tuple_cat(std::tuple(defaulted("quantized", &QuantizedResults::quantized)),
                          Quantization::attributes());
  }
};

/// The numbers that quantized vectors stand for.
struct Dequantize {
  static constexpr std::string_view kName = "dequantize";
};

/// Weights as the nearest numbers of bf16 or f16, ties to even, or these as f32.
struct Cast {
  static constexpr std::string_view kName = "cast";
  DType to = DType::bf16;
  static constexpr auto attributes() { return std::tuple(defaulted("to", &Cast::to)); }
};

/// A matrix a row, with its dimensions exchanged.
struct Transpose {
  static constexpr std::string_view kName = "transpose";
};

}  // namespace op

/// Numbers in fewer bits.
std::span<const OpDef> quantize_ops();

/// The quantizer of a node that quantizes. Where `quantize` is given a scale (operand 1), the
/// quantizer does not have it.
Quantizer quantizer_of(const Node& node);

/// A quantizer as attributes.
op::Quantization quantization_of(const Quantizer& quantizer);

/// The results that a node quantizes, as numbers of results; empty where its op cannot.
Dims quantized_results(const Node& node);

}  // namespace fuselage
