#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "fuselage/backends/cpu/simd/rows.h"

namespace fuselage::cpu {

/// Sinusoidal position encodings of `dim` columns: with n = dim / 2 and inc = ln(10000) / (n - 1),
/// column i < n is sin(position * exp(-inc * i)) and column n + i the cosine, both of an angle that
/// is rounded to float. An odd last column is 0. The first positions are kept once computed.
class SinusoidTable {
 public:
  explicit SinusoidTable(std::size_t dim) : dim_(dim) {}

  /// out [rows, dim]. Several threads may call it at a time.
  void encode(const std::int32_t* positions, std::size_t rows, const RowsOut& out) const;

 private:
  static constexpr std::size_t kBlock = 32, kBlocks = 32;

  /// Positions of a block, computed when one of them is first needed.
  struct Block {
    std::once_flag once;
    std::vector<float> rows;
  };

  const float* kept(std::size_t position) const;

  std::size_t dim_;
  mutable std::array<Block, kBlocks> blocks_;
};

}  // namespace fuselage::cpu
