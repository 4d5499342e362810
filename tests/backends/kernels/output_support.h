#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/backends/kernels/support.h"

namespace fuselage::cpu {

inline constexpr std::int32_t kGuardId = 123456;

/// The k best of each row, with guards behind them.
struct Ranked {
  Ranked(std::size_t rows, std::size_t k)
      : values(rows * k + 8, Matrix::kGuard), ids(rows * k + 8, kGuardId) {}

  bool guards_intact(std::size_t size) const {
    return values[size] == Matrix::kGuard && ids[size] == kGuardId;
  }

  std::vector<float> values;
  std::vector<std::int32_t> ids;
};

inline Ranked k_best_of(const Matrix& x, std::size_t k) {
  Ranked best(x.rows(), k);
  kernels().k_best(x.in(), x.rows(), x.cols(), k, best.values.data(), best.ids.data());
  return best;
}

/// An output layer: x w + bias.
struct Layer {
  Layer(std::size_t d, std::size_t n, bool has_bias, unsigned seed)
      : Layer(Matrix::random(d, n, seed), has_bias, seed) {}
  Layer(Matrix matrix, bool has_bias, unsigned seed)
      : w(std::move(matrix)),
        packed(PackedMatrix::pack(w.row(0), w.rows(), w.cols(), w.stride(), false)) {
    if (has_bias) bias = Matrix::random(1, w.cols(), seed + 1);
  }

  const float* bias_row() const { return bias ? bias->row(0) : nullptr; }

  /// What the separate kernels give.
  Matrix logits(const RowsIn& x, std::size_t rows) const {
    Matrix out(rows, w.cols());
    kernels().gemm(x, rows, packed, out.out());
    if (bias)
      kernels().binary(Binary::add, out.in(), {bias->row(0), 0, nullptr, nullptr, w.cols()}, rows,
                       w.cols(), out.out());
    return out;
  }

  Matrix w;
  PackedMatrix packed;
  std::optional<Matrix> bias;
};

}  // namespace fuselage::cpu
