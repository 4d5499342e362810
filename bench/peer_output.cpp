#include "bench/peer_output.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "backends/cpu/simd/table.h"
#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"

namespace fuselage {
namespace {

/// Null if the build has no oneDNN.
MakePeerIntProduct int8_product() {
#ifdef FUSELAGE_WITH_ONEDNN
  return onednn_int8_product;
#else
  return nullptr;
#endif
}

/// Calls f(vector, element, integer) for all integers of a tensor; returns the vectors' scales.
template <class F>
std::vector<float> for_each_integer(const Tensor& vectors, const F& f) {
  const auto count = static_cast<std::size_t>(vectors.shape()[0]);
  const std::int64_t k = vectors.shape()[1];
  std::vector<float> scales;
  for (std::size_t v = 0; v < count; ++v) {
    const std::byte* vector = vectors.bytes() + v * vector_bytes(vectors.dtype(), k);
    scales.push_back(scale_of(vector));
    for (std::int64_t i = 0; i < k; ++i)
      f(v, static_cast<std::size_t>(i),
        static_cast<std::int8_t>(quantized_at(vectors.dtype(), vector, i)));
  }
  return scales;
}

}  // namespace

void k_best_by_sorting(const float* x, std::size_t rows, std::size_t n, std::size_t k,
                       float* values, std::int32_t* ids) {
  std::vector<std::int32_t> columns(n);
  for (std::size_t r = 0; r < rows; ++r, x += n, values += k, ids += k) {
    std::iota(columns.begin(), columns.end(), 0);
    std::partial_sort(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(k),
                      columns.end(), [x](std::int32_t a, std::int32_t b) { return x[a] > x[b]; });
    for (std::size_t i = 0; i < k; ++i) {
      ids[i] = columns[i];
      values[i] = x[columns[i]];
    }
  }
}

bool PeerOutput::is_available() { return int8_product() != nullptr; }

PeerOutput::PeerOutput(const Tensor& rows, const Tensor& columns, std::vector<float> bias)
    : bias_(std::move(bias)) {
  check(is_available(), "this build has oneDNN");
  const auto k = static_cast<std::size_t>(rows.shape()[1]);
  const std::size_t n = bias_.size();
  x_.resize(static_cast<std::size_t>(rows.shape()[0]) * k);
  w_.resize(k * n);
  row_scales_ = for_each_integer(
      rows, [&](std::size_t r, std::size_t i, std::int8_t q) { x_[r * k + i] = q; });
  column_scales_ = for_each_integer(
      columns, [&](std::size_t c, std::size_t i, std::int8_t q) { w_[i * n + c] = q; });
  product_ = int8_product()(w_.data(), k, n);
  sums_.resize(row_scales_.size() * n);
  logits_.resize(sums_.size());
}

void PeerOutput::dequantize() {
  eigen_dequantize(sums_.data(), row_scales_.size(), bias_.size(), row_scales_.data(),
                   column_scales_.data(), bias_.data(), logits_.data());
}

void PeerOutput::log_softmax() {
  const std::size_t n = bias_.size();
  cpu::kernels().log_softmax({.data = logits_.data(), .stride = n, .columns = n},
                             row_scales_.size(), n, {logits_.data(), n});
}

void PeerOutput::k_best(std::size_t k, float* values, std::int32_t* ids) const {
  k_best_by_sorting(logits_.data(), row_scales_.size(), bias_.size(), k, values, ids);
}

}  // namespace fuselage
