#include "backends/cpu/simd/gemm/packed_matrix.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

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

/// 4 nibbles as the low nibbles of 4 bytes.
std::uint32_t spread(std::uint32_t nibbles) {
  const std::uint32_t pairs = (nibbles | nibbles << 8) & 0x00ff00ffu;
  return (pairs | pairs << 4) & 0x0f0f0f0fu;
}

/// A group of a qlog4 vector in the order of a matrix.
std::uint32_t log4_group(std::uint32_t nibbles) {
  return spread(nibbles & 0xffffu) | spread(nibbles >> 16) << 4;
}

/// The sum modulo 2^32 of a vector's integers.
template <class Integer>
std::uint32_t sum_of(const std::byte* vector, std::size_t k) {
  const auto* integers = reinterpret_cast<const Integer*>(vector + sizeof(float));
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < k; ++i) sum += static_cast<std::uint32_t>(integers[i]);
  return sum;
}

std::uint32_t sum_of_negative_magnitudes(const std::byte* nibbles, std::size_t k) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < k; ++i) {
    const std::int32_t q = nibble_value(nibbles, static_cast<std::int64_t>(i));
    sum += static_cast<std::uint32_t>(std::max(-q, 0));
  }
  return sum;
}

/// Kernels sum modulo 2^32.
std::uint32_t correction_of(DType dtype, const std::byte* vector, std::size_t k) {
  if (dtype == DType::qlog4) return sum_of_negative_magnitudes(vector + sizeof(float), k);
  const std::uint32_t sum =
      dtype == DType::qint8 ? sum_of<std::int8_t>(vector, k) : sum_of<std::int16_t>(vector, k);
  return 0u - 128u * sum;
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

void PackedMatrix::set_or_allocate(Bytes bytes) {
  constexpr std::align_val_t kAlignment{64};
  if (!bytes)
    bytes = {static_cast<std::byte*>(::operator new(size_bytes(), kAlignment)),
             [](std::byte* p) { ::operator delete(p, kAlignment); }};
  set_bytes(std::move(bytes));
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
                                bool transposed, Bytes to) {
  PackedMatrix packed(DType::f32, k, n);
  packed.set_or_allocate(std::move(to));
  packed.place_elements(w, ld, transposed);
  return packed;
}

PackedMatrix PackedMatrix::pack_bf16(const std::uint16_t* w, std::size_t k, std::size_t n,
                                     std::size_t ld, bool transposed, Bytes to) {
  PackedMatrix packed(DType::bf16, k, n);
  packed.set_or_allocate(std::move(to));
  packed.place_elements(w, ld, transposed);
  return packed;
}

template <class Group, class Order>
void PackedMatrix::place_groups(const std::byte* vectors, std::size_t p, Order order) {
  const std::size_t stride = vector_bytes(dtype_, static_cast<std::int64_t>(k_));
  const std::size_t first = p * panel();
  const std::size_t width = std::min(panel(), n_ - first);
  const std::byte* from = vectors + first * stride + sizeof(float);
  auto* to = reinterpret_cast<Group*>(bytes_.get() + p * panel_size_);
  const std::size_t missing = (groups_ * group_ - k_) * 8 * sizeof(Group) / group_;
  for (std::size_t g = 0; g < groups_; ++g, from += sizeof(Group), to += panel()) {
    // Behind the last integer are zeros, whatever the vector has there.
    const auto used =
        static_cast<Group>(static_cast<Group>(~Group{0}) >> (g + 1 < groups_ ? 0 : missing));
    for (std::size_t j = 0; j < width; ++j) {
      Group group = 0;
      std::memcpy(&group, from + j * stride, sizeof group);
      to[j] = order(static_cast<Group>(group & used));
    }
    std::fill(to + width, to + panel(), Group{0});
  }
}

void PackedMatrix::place_vectors(const std::byte* vectors) {
  const auto same = [](auto group) { return group; };
  const std::size_t stride = vector_bytes(dtype_, static_cast<std::int64_t>(k_));
  for (std::size_t p = 0; p < panel_count(); ++p) {
    if (dtype_ == DType::qlog4)
      place_groups<std::uint32_t>(vectors, p, log4_group);
    else if (group_bytes_ == sizeof(std::uint32_t))
      place_groups<std::uint32_t>(vectors, p, same);
    else
      place_groups<std::uint16_t>(vectors, p, same);
    for (std::size_t column = p * panel(); column < (p + 1) * panel(); ++column) {
      const std::byte* vector = column < n_ ? vectors + column * stride : nullptr;
      all_scales()[column] = vector ? scale_of(vector) : 0.0f;
      all_corrections()[column] =
          vector ? static_cast<std::int32_t>(correction_of(dtype_, vector, k_)) : 0;
    }
  }
}

PackedMatrix PackedMatrix::pack_quantized(DType dtype, const std::byte* vectors, std::size_t k,
                                          std::size_t n, Bytes to) {
  check(is_quantized(dtype), "packed matrix: the type is not a quantized one");
  PackedMatrix packed(dtype, k, n);
  check(packed.group_bytes_ == 2 || packed.group_bytes_ == 4,
        "packed matrix: a group of integers has 2 or 4 bytes");
  packed.set_or_allocate(std::move(to));
  packed.place_vectors(vectors);
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
