#include "backends/cpu/simd/gemm/packed_matrix.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>
#include <type_traits>
#include <utility>

#include "backends/cpu/simd/table.h"
#include "base/numbers/logarithmic.h"
#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"

namespace fuselage::cpu {
namespace {

std::size_t group_of(DType dtype, const PanelLayout& layout) {
  if (dtype == DType::qint8) return layout.qint8_group;
  if (dtype == DType::qlog4) return PackedMatrix::kLog4Group;
  return dtype == DType::qint16 ? 2 : 1;
}

/// The number of groups of a column.
std::size_t groups_of(DType dtype, const PanelLayout& layout, std::size_t k) {
  const std::size_t group = group_of(dtype, layout);
  const std::size_t step = dtype == DType::qint8 ? layout.qint8_step : group;
  return (k + step - 1) / step * (step / group);
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

using Words [[gnu::vector_size(16)]] = std::uint32_t;
using Halves [[gnu::vector_size(16)]] = std::uint16_t;

/// The number of columns, and of bytes of each, that are placed together.
constexpr std::size_t kBlockColumns = 4, kBlockBytes = sizeof(Words);

/// Places kBlockBytes of each of kBlockColumns columns: a row of groups for each group of a column,
/// rows `stride` groups apart.
template <class Group>
void place_block(const std::byte* const (&columns)[kBlockColumns], Group* to, std::size_t stride) {
  Words x[kBlockColumns];
  for (std::size_t j = 0; j < kBlockColumns; ++j) std::memcpy(&x[j], columns[j], kBlockBytes);
  const Words lower01 = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5);
  const Words upper01 = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7);
  const Words lower23 = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
  const Words upper23 = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
  const Words words[] = {__builtin_shufflevector(lower01, lower23, 0, 1, 4, 5),
                         __builtin_shufflevector(lower01, lower23, 2, 3, 6, 7),
                         __builtin_shufflevector(upper01, upper23, 0, 1, 4, 5),
                         __builtin_shufflevector(upper01, upper23, 2, 3, 6, 7)};
  for (const Words& word : words) {
    if constexpr (sizeof(Group) == sizeof(std::uint32_t)) {
      std::memcpy(to, &word, sizeof word);
      to += stride;
    } else {
      const auto halves = reinterpret_cast<Halves>(word);
      const Halves rows = __builtin_shufflevector(halves, halves, 0, 2, 4, 6, 1, 3, 5, 7);
      std::memcpy(to, &rows, sizeof rows / 2);
      std::memcpy(to + stride, reinterpret_cast<const std::byte*>(&rows) + sizeof rows / 2,
                  sizeof rows / 2);
      to += 2 * stride;
    }
  }
}

/// Prefetches scattered columns, into the second-level cache.
void prefetch(const QuantizedColumns& columns, std::size_t first, std::size_t last) {
  constexpr std::size_t kCacheLine = 64;
  for (std::size_t i = first; i < last; ++i)
    for (std::size_t line = 0; line < columns.stride; line += kCacheLine)
      __builtin_prefetch(columns[i] + line, 0, 2);
}

}  // namespace

PackedMatrix::PackedMatrix(DType dtype, std::size_t k, std::size_t n)
    : dtype_(dtype),
      k_(k),
      n_(n),
      layout_(kernels().panel_layout),
      group_(group_of(dtype, layout_)),
      group_bytes_(group_bytes_of(dtype, group_)),
      groups_(groups_of(dtype, layout_, k)),
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
void PackedMatrix::place_groups(const QuantizedColumns& columns, std::size_t p, Order order) {
  const std::size_t first = p * panel();
  const std::size_t width = std::min(panel(), n_ - first);
  const std::size_t whole = k_ / group_;
  const std::size_t rest = k_ % group_ * 8 * sizeof(Group) / group_;
  const auto used = static_cast<Group>((std::uint64_t{1} << rest) - 1);
  auto* to = reinterpret_cast<Group*>(bytes_.get() + p * panel_size_);
  const auto address = [&](std::size_t j, std::size_t g) {
    return columns[first + j] + sizeof(float) + g * sizeof(Group);
  };
  // Behind the last integer are zeros, whatever the vector has there.
  const auto group = [&](std::size_t j, std::size_t g) {
    Group integers = 0;
    if (j < width && g * group_ < k_) std::memcpy(&integers, address(j, g), sizeof integers);
    return order(static_cast<Group>(g < whole ? integers : integers & used));
  };
  constexpr std::size_t kGroups = kBlockBytes / sizeof(Group);
  const std::size_t columns_of_blocks = width - width % kBlockColumns;
  for (std::size_t g = 0; g < groups_;) {
    const bool block = std::is_same_v<Order, std::identity> && g + kGroups <= whole;
    const std::size_t placed = block ? columns_of_blocks : 0;
    for (std::size_t j = 0; j < placed; j += kBlockColumns)
      place_block<Group>({address(j, g), address(j + 1, g), address(j + 2, g), address(j + 3, g)},
                         to + g * panel() + j, panel());
    for (const std::size_t end = block ? g + kGroups : g + 1; g < end; ++g)
      for (std::size_t j = placed; j < panel(); ++j) to[g * panel() + j] = group(j, g);
  }
}

void PackedMatrix::place_columns(const QuantizedColumns& columns) {
  if (columns.numbers) prefetch(columns, 0, std::min(panel(), n_));
  for (std::size_t p = 0; p < panel_count(); ++p) {
    if (columns.numbers && p + 1 < panel_count())
      prefetch(columns, (p + 1) * panel(), std::min((p + 2) * panel(), n_));
    if (dtype_ == DType::qlog4)
      place_groups<std::uint32_t>(columns, p, log4_group);
    else if (group_bytes_ == sizeof(std::uint32_t))
      place_groups<std::uint32_t>(columns, p, std::identity());
    else
      place_groups<std::uint16_t>(columns, p, std::identity());
    for (std::size_t i = p * panel(); i < (p + 1) * panel(); ++i) {
      all_scales()[i] = i < n_ ? scale_of(columns[i]) : 0.0f;
      all_corrections()[i] =
          i < n_ ? static_cast<std::int32_t>(correction_of(dtype_, columns[i], k_)) : 0;
    }
  }
}

PackedMatrix PackedMatrix::pack_quantized(DType dtype, const std::byte* vectors, std::size_t k,
                                          std::size_t n, Bytes to) {
  const QuantizedColumns columns{vectors, vector_bytes(dtype, static_cast<std::int64_t>(k))};
  return pack_quantized(dtype, columns, k, n, std::move(to));
}

PackedMatrix PackedMatrix::pack_quantized(DType dtype, const QuantizedColumns& columns,
                                          std::size_t k, std::size_t n, Bytes to) {
  check(is_quantized(dtype), "packed matrix: the type is not a quantized one");
  PackedMatrix packed(dtype, k, n);
  check(packed.group_bytes_ == 2 || packed.group_bytes_ == 4,
        "packed matrix: a group of integers has 2 or 4 bytes");
  packed.set_or_allocate(std::move(to));
  packed.place_columns(columns);
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
