#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/output/k_best.h"
#include "backends/cuda/device/rows/index_path.h"
#include "backends/cuda/device/runtime/rows.h"

namespace fuselage::cuda {

/// out[r] = the number of the row to which `via` leads from row r; `unmapped` if there is none.
void row_numbers(cudaStream_t stream, const IndexPath& via, float unmapped, const Rows& rows,
                 const RowsOut& out);

/// The texts of rows, and the penalty of words that they have: see op::PenalizeRepeats. Word i of
/// row r is words[via[pairs.begin[r] + i]].
struct RepeatedTexts {
  Segments pairs;
  const std::int32_t* via = nullptr;
  RowsIn words;
  float penalty = 1;
  std::int32_t ngram = 0;
  const std::int32_t* forbidden = nullptr;  ///< sequences, each with -1 behind it
  std::int32_t forbidden_size = 0;
};

/// Scores of all words of the vocabulary, a row for each text.
void penalize_repeats(cudaStream_t stream, const RowsIn& scores, const RepeatedTexts& texts,
                      const Rows& rows, std::int32_t columns, const RowsOut& out);

/// Scores of the words of shortlists, one for each pair of a row and a word; the words of a row
/// ascend.
void penalize_repeats(cudaStream_t stream, const float* scores, const RepeatedTexts& texts,
                      const Rows& rows, const ShortlistWords& lists, float* out);

}  // namespace fuselage::cuda
