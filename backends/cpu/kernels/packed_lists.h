#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backends/cpu/kernels/free_extents.h"
#include "backends/cpu/simd/gemm/packed_matrix.h"
#include "backends/cpu/simd/table.h"
#include "base/files/lazy_pages.h"
#include "fuselage/backends/cpu/runtime/kernel.h"

namespace fuselage::cpu {

/// The columns of each sentence's list as a matrix of its own, for all its steps: a step reads them
/// one after another instead of at scattered places.
class PackedLists final : public BatchState {
 public:
  /// The words of a sentence's list.
  struct Words {
    std::size_t sentence;
    std::span<const std::int32_t> columns;
  };

  /// Forgets all lists.
  void clear();
  /// Copies the columns of lists, and their biases unless `bias` is null, in place of the lists
  /// that these sentences had. Without memory for them, or if they take more of max_bytes() than is
  /// free, these sentences have none.
  void add(const MatrixColumns& matrix, const float* bias, std::span<const Words> lists);

  /// The list of a sentence; without a matrix if it has none.
  PackedList of(std::size_t sentence) const;

  /// About half a third-level cache. From memory, columns that several lists name are read faster
  /// in place. Less where all of it would take memory at once.
  static std::size_t max_bytes() { return std::size_t{pages_are_lazy() ? 16U : 2U} << 20; }

 private:
  struct List {
    PackedMatrix matrix{DType::qint8, 0, 0};
    bool is_packed = false;
    std::size_t offset = 0;  ///< in bytes_
    std::vector<float> biases;
  };

  bool place(const MatrixColumns& matrix, std::span<const Words> lists);
  void forget(List& list);
  void copy(const MatrixColumns& matrix, const float* bias, const Words& words);

  std::vector<List> lists_;  ///< by sentence
  PackedMatrix::Bytes bytes_;
  FreeExtents free_{max_bytes()};
};

}  // namespace fuselage::cpu
