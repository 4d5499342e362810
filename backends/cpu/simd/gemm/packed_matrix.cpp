#include "backends/cpu/simd/gemm/packed_matrix.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "backends/cpu/simd/table.h"
#include "base/logarithmic.h"
#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"

namespace fuselage::cpu {
namespace {

std::size_t group_of(DType dtype, const PanelLayout& layout) {
  if (dtype == DType::qint8) return layout.qint8_group;
  if (dtype == DType::qlog4) return PackedMatrix::kLog4Group;
  return dtype == DType::qint16 ? 2 : 1;
}

std::size_t group_bytes_of(DType dtype, std::size_t group) {
  return dtype == DType::qlog4 ? group / 2 : group * size_of(dtype);
}

}  // namespace

PackedMatrix::PackedMatrix(DType dtype, std::size_t k, std::size_t n)
    : dtype_(dtype),
      k_(k),
      n_(n),
      layout_(kernels().panel_layout),
      group_(group_of(dtype, layout_)),
      group_bytes_(group_bytes_of(dtype, group_)),
      groups_((k + group_ - 1) / group_),
      panel_size_(groups_ * group_bytes_ * panel()) {}

void PackedMatrix::allocate() {
  constexpr std::align_val_t kAlignment{64};
  bytes_ = {static_cast<std::byte*>(::operator new(size_bytes(), kAlignment)),
            [](std::byte* p) { ::operator delete(p, kAlignment); }};
}

template <class Element>
void PackedMatrix::place_elements(const Element* w, std::size_t ld, bool transposed) {
  for (std::size_t p = 0; p < panel_count(); ++p) {
    auto* to = reinterpret_cast<Element*>(bytes_.get() + p * panel_size_);
    const std::size_t first = p * panel();
    const std::size_t width = std::min(panel(), n_ - first);
    for (std::size_t i = 0; i < k_; ++i, to += panel()) {
      for (std::size_t j = 0; j < width; ++j)
        to[j] = transposed ? w[(first + j) * ld + i] : w[i * ld + first + j];
      std::fill(to + width, to + panel(), Element{0});
    }
  }
}

PackedMatrix PackedMatrix::pack(const float* w, std::size_t k, std::size_t n, std::size_t ld,
                                bool transposed) {
  PackedMatrix packed(DType::f32, k, n);
  packed.allocate();
  packed.place_elements(w, ld, transposed);
  return packed;
}

PackedMatrix PackedMatrix::pack_bf16(const std::uint16_t* w, std::size_t k, std::size_t n,
                                     std::size_t ld, bool transposed) {
  PackedMatrix packed(DType::bf16, k, n);
  packed.allocate();
  packed.place_elements(w, ld, transposed);
  return packed;
}

std::byte* PackedMatrix::group_at(std::size_t group, std::size_t column) const {
  return bytes_.get() + column / panel() * panel_size_ +
         (group * panel() + column % panel()) * group_bytes_;
}

template <class Integer>
void PackedMatrix::place_integers(const std::byte* vector, std::size_t column) {
  for (std::size_t i = 0; i < k_; ++i)
    reinterpret_cast<Integer*>(group_at(i / group_, column))[i % group_] =
        static_cast<Integer>(quantized_at(dtype_, vector, static_cast<std::int64_t>(i)));
}

void PackedMatrix::place_nibbles(const std::byte* vector, std::size_t column) {
  for (std::size_t i = 0; i < k_; ++i) {
    const std::int32_t q = quantized_at(dtype_, vector, static_cast<std::int64_t>(i));
    const std::size_t term = i % kLog4Group, half = kLog4Group / 2;
    put_nibble(group_at(i / kLog4Group, column),
               static_cast<std::int64_t>(term % half * 2 + term / half), q < 0,
               std::countr_zero(static_cast<std::uint32_t>(q)));
  }
}

void PackedMatrix::place_column(const std::byte* vector, std::size_t column) {
  if (dtype_ == DType::qint8)
    place_integers<std::int8_t>(vector, column);
  else if (dtype_ == DType::qint16)
    place_integers<std::int16_t>(vector, column);
  else
    place_nibbles(vector, column);
  all_scales()[column] = scale_of(vector);
  std::int64_t correction = 0;
  for (std::size_t i = 0; i < k_; ++i) {
    const std::int64_t q = quantized_at(dtype_, vector, static_cast<std::int64_t>(i));
    correction -= dtype_ == DType::qlog4 ? std::min<std::int64_t>(q, 0) : 128 * q;
  }
  // Kernels sum modulo 2^32.
  all_corrections()[column] = static_cast<std::int32_t>(correction);
}

PackedMatrix PackedMatrix::pack_quantized(DType dtype, const std::byte* vectors, std::size_t k,
                                          std::size_t n) {
  check(is_quantized(dtype), "packed matrix: the type is not a quantized one");
  PackedMatrix packed(dtype, k, n);
  packed.allocate();
  std::memset(packed.bytes_.get(), 0, packed.size_bytes());
  const std::size_t stride = vector_bytes(dtype, static_cast<std::int64_t>(k));
  for (std::size_t column = 0; column < n; ++column, vectors += stride)
    packed.place_column(vectors, column);
  return packed;
}

std::size_t PackedMatrix::row_elements() const {
  return vector_bytes(row_type_of(dtype_), static_cast<std::int64_t>(k_)) / sizeof(float);
}

std::size_t PackedMatrix::size_bytes() const {
  const std::size_t a_column = is_quantized(dtype_) ? sizeof(float) + sizeof(std::int32_t) : 0;
  return panel_count() * (panel_size_ + panel() * a_column);
}

}  // namespace fuselage::cpu
