#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/dtype.h"

namespace fuselage::cpu {

/// How the kernels of an instruction-set level want their right operands.
struct PanelLayout {
  /// Columns a panel.
  std::size_t panel = 0;
  /// Consecutive terms of a column's sum that lie together in a qint8 matrix.
  std::size_t qint8_group = 0;

  bool operator==(const PanelLayout&) const = default;
};

/// An immutable [k, n] right operand of gemm of type f32, bf16, qint8, qint16 or qlog4. It is
/// stored as panels of panel() columns, each in groups of `group` rows: the group of the first
/// column, that of the second and so on, then the next group. Zeros fill the last group and the
/// last panel. The layout is that of the level that was active when it was packed, and only levels
/// with the same take it.
class PackedMatrix {
 public:
  /// Terms of a group of a qlog4 matrix: nibbles of 4 bytes, first the low ones and then the high
  /// ones.
  static constexpr std::size_t kLog4Group = 8;

  /// A matrix of this type and shape, whose bytes are yet to come.
  PackedMatrix(DType dtype, std::size_t k, std::size_t n);

  /// Packs w, which is [k, n] with rows `ld` apart, or [n, k] when `transposed`.
  static PackedMatrix pack(const float* w, std::size_t k, std::size_t n, std::size_t ld,
                           bool transposed);

  /// The same for a matrix of type bf16.
  static PackedMatrix pack_bf16(const std::uint16_t* w, std::size_t k, std::size_t n,
                                std::size_t ld, bool transposed);

  /// Packs a matrix that is quantized by column (base/quantized.h): n vectors of k integers.
  static PackedMatrix pack_quantized(DType dtype, const std::byte* vectors, std::size_t k,
                                     std::size_t n);

  DType dtype() const { return dtype_; }
  std::size_t k() const { return k_; }
  std::size_t n() const { return n_; }
  const PanelLayout& layout() const { return layout_; }
  /// Columns a panel.
  std::size_t panel() const { return layout_.panel; }
  std::size_t panel_count() const { return (n_ + panel() - 1) / panel(); }
  /// Groups a panel, the last one perhaps in part.
  std::size_t groups() const { return groups_; }
  /// What a row of the left operand takes, in units of 4 bytes: k floats, or a quantized vector,
  /// which for qlog4 is one of type qint8.
  std::size_t row_elements() const;

  /// Panel p, aligned to 64 bytes.
  const std::byte* panel_bytes(std::size_t p) const { return bytes_.get() + p * panel_size_; }
  /// For the columns of panel p and those after it, of a quantized matrix: their scales, and what
  /// sums begin with where a byte instruction would take other integers; of qint8, -128 times the
  /// sum of a column, of qlog4, the magnitudes of its negative integers.
  const float* scales(std::size_t p) const { return all_scales() + p * panel(); }
  const std::int32_t* corrections(std::size_t p) const { return all_corrections() + p * panel(); }

  /// All that has been packed, in one piece: panels, scales, corrections.
  const std::byte* bytes() const { return bytes_.get(); }
  std::size_t size_bytes() const;

  /// From now on the bytes are these, aligned to 64: those of a matrix that was packed for this
  /// level with the same type and shape.
  void set_bytes(std::shared_ptr<std::byte[]> bytes) { bytes_ = std::move(bytes); }

 private:
  void allocate();
  float* all_scales() const {
    return reinterpret_cast<float*>(bytes_.get() + panel_count() * panel_size_);
  }
  std::int32_t* all_corrections() const {
    return reinterpret_cast<std::int32_t*>(all_scales() + panel_count() * panel());
  }

  template <class Element>
  void place_elements(const Element* w, std::size_t ld, bool transposed);
  template <class Integer>
  void place_integers(const std::byte* vector, std::size_t column);
  void place_nibbles(const std::byte* vector, std::size_t column);
  void place_column(const std::byte* vector, std::size_t column);
  /// Where a group of a column lies, from the matrix's beginning.
  std::byte* group_at(std::size_t group, std::size_t column) const;

  DType dtype_;
  std::size_t k_;
  std::size_t n_;
  PanelLayout layout_;
  std::size_t group_;
  std::size_t group_bytes_;  // of a column
  std::size_t groups_;
  std::size_t panel_size_;  // in bytes
  std::shared_ptr<std::byte[]> bytes_;
};

}  // namespace fuselage::cpu
