#include "backends/cpu/kernels/packed_matrix.h"

#include <algorithm>
#include <cstring>
#include <new>

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
      panel_size_(groups_ * group_ * panel() * size_of(dtype)) {}

void PackedMatrix::allocate() {
  constexpr std::align_val_t kAlignment{64};
  bytes_ = {static_cast<std::byte*>(::operator new(size_bytes(), kAlignment)),
            [](std::byte* p) { ::operator delete(p, kAlignment); }};
}

PackedMatrix PackedMatrix::pack(const float* w, std::size_t k, std::size_t n, std::size_t ld,
                                bool transposed) {
  PackedMatrix packed(DType::f32, k, n);
  packed.allocate();
  const std::size_t panel = packed.panel();
  for (std::size_t p = 0; p < packed.panel_count(); ++p) {
    auto* to = reinterpret_cast<float*>(packed.bytes_.get() + p * packed.panel_size_);
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
  auto* to = reinterpret_cast<Integer*>(bytes_.get() + column / panel() * panel_size_) +
             column % panel() * group_;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < k_; ++i) {
    const std::int32_t q = quantized_at(dtype_, vector, static_cast<std::int64_t>(i));
    to[i / group_ * group_ * panel() + i % group_] = static_cast<Integer>(q);
    sum += q;
  }
  all_scales()[column] = scale_of(vector);
  // Kernels sum modulo 2^32.
  all_corrections()[column] = static_cast<std::int32_t>(-128 * sum);
}

PackedMatrix PackedMatrix::pack_quantized(DType dtype, const std::byte* vectors, std::size_t k,
                                          std::size_t n) {
  check(is_quantized(dtype), "packed matrix: the type is not a quantized one");
  PackedMatrix packed(dtype, k, n);
  packed.allocate();
  std::memset(packed.bytes_.get(), 0, packed.size_bytes());
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
  const std::size_t a_column = is_quantized(dtype_) ? sizeof(float) + sizeof(std::int32_t) : 0;
  return panel_count() * (panel_size_ + panel() * a_column);
}

}  // namespace fuselage::cpu
