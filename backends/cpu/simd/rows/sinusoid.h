#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fuselage/backends/cpu/simd/rows.h"

namespace fuselage::cpu {

/// Sinusoidal position encodings of `dim` columns: with n = dim / 2 and inc = ln(10000) / (n - 1),
/// column i < n is sin(position * exp(-inc * i)) and column n + i the cosine, both of an angle that
/// is rounded to float. An odd last column is 0. The first positions are computed in advance.
class SinusoidTable {
 public:
  explicit SinusoidTable(std::size_t dim);

  /// out [rows, dim].
  void encode(const std::int32_t* positions, std::size_t rows, const RowsOut& out) const;

 private:
  std::size_t dim_;
  std::vector<float> first_;
};

}  // namespace fuselage::cpu
