#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "backends/cuda/device/kernel/kernel.h"
#include "backends/cuda/device/rows/index_path.h"
#include "backends/cuda/device/runtime/rows.h"

namespace fuselage::cuda {

/// Words drawn from the scores of each row.
struct DrawQuery {
  Rows rows;
  RowsIn scores;                ///< of rows; with `pairs`, contiguous numbers of pairs
  Segments pairs;               ///< null: the scores of a row are its columns
  RowsIn random;                ///< a number between 0 and 1 for each row
  RowsOf<std::int32_t> listed;  ///< the words of the columns; null: their numbers
  IndexPath words;              ///< with `pairs`, from pairs to words
  float temperature = 1;
  std::int32_t top_k = 0;  ///< 0: all
  double top_p = 1, epsilon = 0;
  const std::int32_t* excluded = nullptr;  ///< ascending, in device memory
  std::int32_t excluded_count = 0;
  RowsOut score;
  ResultOf<std::int32_t> word;
};

/// Workspace of draw_words() for so many scores.
std::size_t draw_bytes(std::int64_t scores);

/// The ops `sample` and `segment_sample`, for at most `scores` scores in all rows. The nucleus is
/// found by bisection of the bits of probabilities.
void draw_words(cudaStream_t stream, const DrawQuery& query, std::int64_t scores,
                const Workspace& workspace);

/// The op `uniform`.
void uniform_numbers(cudaStream_t stream, const RowsIn& streams,
                     const RowsOf<std::int32_t>& positions, const Rows& rows, const RowsOut& out);

}  // namespace fuselage::cuda
