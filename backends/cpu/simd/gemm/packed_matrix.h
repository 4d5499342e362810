#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "fuselage/base/dtype.h"

namespace fuselage::cpu {

/// The layout of packed matrices at an instruction-set level.
struct PanelLayout {
  /// Columns per panel.
  std::size_t panel = 0;
  /// Consecutive rows of a column that are stored together in a qint8 matrix.
  std::size_t qint8_group = 0;
  /// Rows that are multiplied together: a qint8 matrix has groups of zeros up to a multiple of it.
  std::size_t qint8_step = 0;

  bool operator==(const PanelLayout&) const = default;
};

/// The columns of a matrix: quantized vectors `stride` bytes apart. With `numbers`, column i is
/// vector numbers[i], else vector i.
struct QuantizedColumns {
  const std::byte* data = nullptr;
  std::size_t stride = 0;
  const std::int32_t* numbers = nullptr;

  const std::byte* operator[](std::size_t i) const {
    return data + (numbers ? static_cast<std::size_t>(numbers[i]) : i) * stride;
  }
};

/// An immutable [k, n] right operand of gemm of type f32, bf16, qint8, qint16 or qlog4. Stored as
/// panels of panel() columns, divided into groups of rows: the first group of each column in order,
/// then the second group of each column, and so on. The last groups and the last panel are padded
/// with zeros. The layout is of the level active at packing; only levels with the same layout can
/// read it.
class PackedMatrix {
 public:
  /// Rows per group of a qlog4 matrix: the nibbles of 4 bytes, first the low ones, then the high
  /// ones.
  static constexpr std::size_t kLog4Group = 8;

  using Bytes = std::shared_ptr<std::byte[]>;

  /// A matrix of this type and shape without bytes; see set_bytes().
  PackedMatrix(DType dtype, std::size_t k, std::size_t n);

  /// Packs w: [k, n] with row stride `ld`, or [n, k] if `transposed`. The matrix is made in `to`,
  /// size_bytes() bytes aligned to 64, or in memory of its own if that is null.
  static PackedMatrix pack(const float* w, std::size_t k, std::size_t n, std::size_t ld,
                           bool transposed, Bytes to = nullptr);

  /// The same for a matrix of type bf16.
  static PackedMatrix pack_bf16(const std::uint16_t* w, std::size_t k, std::size_t n,
                                std::size_t ld, bool transposed, Bytes to = nullptr);

  /// Packs a matrix quantized by column (base/quantized.h): n vectors of k integers.
  static PackedMatrix pack_quantized(DType dtype, const std::byte* vectors, std::size_t k,
                                     std::size_t n, Bytes to = nullptr);
  static PackedMatrix pack_quantized(DType dtype, const QuantizedColumns& columns, std::size_t k,
                                     std::size_t n, Bytes to = nullptr);

  DType dtype() const { return dtype_; }
  std::size_t k() const { return k_; }
  std::size_t n() const { return n_; }
  const PanelLayout& layout() const { return layout_; }
  /// Columns per panel.
  std::size_t panel() const { return layout_.panel; }
  std::size_t panel_count() const { return (n_ + panel() - 1) / panel(); }
  /// Groups per panel; the last ones may be partial, or zeros.
  std::size_t groups() const { return groups_; }
  /// Size of a row of the left operand in units of 4 bytes: k floats, or a quantized vector (of
  /// type qint8 for qlog4).
  std::size_t row_elements() const;

  /// Panel p, aligned to 64 bytes.
  const std::byte* panel_bytes(std::size_t p) const { return bytes_.get() + p * panel_size_; }
  /// For columns from panel p on of a quantized matrix: their scales, and their corrections, the
  /// initial values of integer sums that compensate for operands adapted to byte instructions: for
  /// qint8, -128 times the column's sum; for qlog4, the sum of magnitudes of its negative integers.
  const float* scales(std::size_t p) const { return all_scales() + p * panel(); }
  const std::int32_t* corrections(std::size_t p) const { return all_corrections() + p * panel(); }

  /// All packed data, contiguous: panels, scales, corrections.
  const std::byte* bytes() const { return bytes_.get(); }
  std::size_t size_bytes() const;

  /// Sets the bytes, aligned to 64, of a matrix packed at this level with the same type and shape.
  void set_bytes(Bytes bytes) { bytes_ = std::move(bytes); }

 private:
  void set_or_allocate(Bytes bytes);
  float* all_scales() const {
    return reinterpret_cast<float*>(bytes_.get() + panel_count() * panel_size_);
  }
  std::int32_t* all_corrections() const {
    return reinterpret_cast<std::int32_t*>(all_scales() + panel_count() * panel());
  }

  template <class Element>
  void place_elements(const Element* w, std::size_t ld, bool transposed);
  /// Places panel p of the quantized columns; `order` gives a group's integers the matrix's order.
  template <class Group, class Order>
  void place_groups(const QuantizedColumns& columns, std::size_t p, Order order);
  void place_columns(const QuantizedColumns& columns);

  DType dtype_;
  std::size_t k_;
  std::size_t n_;
  PanelLayout layout_;
  std::size_t group_;
  std::size_t group_bytes_;  // of one column
  std::size_t groups_;
  std::size_t panel_size_;  // in bytes
  Bytes bytes_;
};

}  // namespace fuselage::cpu
