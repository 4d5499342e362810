#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backends/cpu/simd/gemm/packed_matrix.h"
#include "backends/cpu/simd/table.h"
#include "fuselage/backends/cpu/runtime/kernel.h"

namespace fuselage::cpu {

/// The columns of each sentence's list as a matrix of its own, for all steps of a batch: a step
/// reads them one after another instead of at scattered places.
class PackedLists final : public BatchState {
 public:
  /// Copies the columns of the lists, each the `columns` words of a segment, and their biases
  /// unless `bias` is null. Without memory for them, or if they take more than kMaxBytes, there are
  /// none.
  void pack(const MatrixColumns& matrix, const float* bias, const Segments& lists,
            std::span<const std::int32_t> columns);

  /// The list of a sentence; without a matrix if there are none.
  PackedList of(std::size_t sentence) const;

  /// About half a third-level cache. From memory, columns that several lists name are read faster
  /// in place.
  static constexpr std::size_t kMaxBytes = std::size_t{16} << 20;

 private:
  struct List {
    PackedMatrix matrix;
    std::size_t first = 0;  ///< the number of its first bias
  };

  /// Makes all matrices without bytes; returns their size in bytes.
  std::size_t make_matrices(const MatrixColumns& matrix, const Segments& lists);
  void copy(const MatrixColumns& matrix, const float* bias, std::span<const std::int32_t> columns);

  std::vector<List> lists_;
  std::vector<float> biases_;
  PackedMatrix::Bytes bytes_;  ///< of all matrices
  std::size_t size_ = 0;
};

}  // namespace fuselage::cpu
