#include "backends/cpu/kernels/packed_matrix.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/table.h"
#include "base/error.h"
#include "base/quantized.h"

namespace fuselage::cpu {
namespace {

std::size_t group_of(DType dtype, const PanelLayout& layout) {
  if (dtype == DType::qint8) return layout.qint8_group;
  return dtype == DType::qint16 ? 2 : 1;
}

}  // namespace

PackedMatrix::PackedMatrix(DType dtype, std::size_t k, std::size_t n)
    : dtype_(dtype),
      k_(k),
      n_(n),
      layout_(kernels().panel_layout),
      group_(group_of(dtype, layout_)),
      groups_((k + group_ - 1) / group_),
      panel_size_(groups_ * group_ * panel() * size_of(dtype)),
      data_(static_cast<std::byte*>(
          ::operator new (panel_count() * panel_size_, std::align_val_t{64}))) {}

PackedMatrix PackedMatrix::pack(const float* w, std::size_t k, std::size_t n, std::size_t ld,
                                bool transposed) {
  PackedMatrix packed(DType::f32, k, n);
  const std::size_t panel = packed.panel();
  for (std::size_t p = 0; p < packed.panel_count(); ++p) {
    auto* to = reinterpret_cast<float*>(packed.data_.get() + p * packed.panel_size_);
    const std::size_t first = p * panel;
    const std::size_t width = std::min(panel, n - first);
    for (std::size_t i = 0; i < k; ++i, to += panel) {
      for (std::size_t j = 0; j < width; ++j)
        to[j] = transposed ? w[(first + j) * ld + i] : w[i * ld + first + j];
      std::fill(to + width, to + panel, 0.0f);
    }
  }
  return packed;
}

template <class Integer>
void PackedMatrix::place_column(const std::byte* vector, std::size_t column) {
  auto* to = reinterpret_cast<Integer*>(data_.get() + column / panel() * panel_size_) +
             column % panel() * group_;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < k_; ++i) {
    const std::int32_t q = quantized_at(dtype_, vector, static_cast<std::int64_t>(i));
    to[i / group_ * group_ * panel() + i % group_] = static_cast<Integer>(q);
    sum += q;
  }
  scales_[column] = scale_of(vector);
  // Kernels sum modulo 2^32.
  corrections_[column] = static_cast<std::int32_t>(-128 * sum);
}

PackedMatrix PackedMatrix::pack_quantized(DType dtype, const std::byte* vectors, std::size_t k,
                                          std::size_t n) {
  check(is_quantized(dtype), "packed matrix: the type is not a quantized one");
  PackedMatrix packed(dtype, k, n);
  std::memset(packed.data_.get(), 0, packed.panel_count() * packed.panel_size_);
  packed.scales_.resize(packed.panel_count() * packed.panel());
  packed.corrections_.resize(packed.scales_.size());
  const std::size_t stride = vector_bytes(dtype, static_cast<std::int64_t>(k));
  for (std::size_t column = 0; column < n; ++column, vectors += stride)
    if (dtype == DType::qint8)
      packed.place_column<std::int8_t>(vectors, column);
    else
      packed.place_column<std::int16_t>(vectors, column);
  return packed;
}

std::size_t PackedMatrix::row_elements() const {
  return vector_bytes(dtype_, static_cast<std::int64_t>(k_)) / sizeof(float);
}

std::size_t PackedMatrix::size_bytes() const {
  return panel_count() * panel_size_ + scales_.size() * sizeof(float) +
         corrections_.size() * sizeof(std::int32_t);
}

}  // namespace fuselage::cpu
