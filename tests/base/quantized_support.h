#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fuselage/base/quantized.h"

namespace fuselage {

/// A vector of these numbers, with a scale of its own.
inline std::vector<std::byte> quantize(const Quantizer& quantizer, const std::vector<float>& x) {
  const auto k = static_cast<std::int64_t>(x.size());
  // Whatever was there before must not show.
  std::vector<std::byte> out(vector_bytes(quantizer.to, k), std::byte{0x5a});
  quantize_vector(quantizer, x.data(), k, quantization_scale(quantizer, x.data(), k), out.data());
  return out;
}

/// Its integers.
inline std::vector<std::int32_t> integers(const Quantizer& quantizer, const std::vector<float>& x) {
  const std::vector<std::byte> vector = quantize(quantizer, x);
  std::vector<std::int32_t> values;
  for (std::size_t i = 0; i < x.size(); ++i)
    values.push_back(quantized_at(quantizer.to, vector.data(), static_cast<std::int64_t>(i)));
  return values;
}

}  // namespace fuselage
