#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/rows/live_rows.h"
#include "backends/cuda/device/runtime/rows.h"
#include "backends/executable.h"

namespace fuselage::cuda {

// What the kernels of DeviceSearch take by value, and how they are started.

/// How far a search is.
struct SearchStatus {
  std::int32_t live_rows = 0;
  std::int32_t steps = 0;          ///< in which hypotheses lived
  std::int32_t error_step = -1;    ///< words after which a sentence's scores were not numbers
  std::int32_t unknown_word = -1;  ///< that a model chose and cannot look up
};

/// What a search knows and how far it is.
struct SearchState {
  SearchStatus status;
  std::int32_t sentences = 0;
  std::int32_t beam_size = 0;
  std::int32_t end_id = 0;
  std::int32_t vocabulary = 0;  ///< words that can be looked up are below
  std::int32_t suppressed = 0;  ///< how many
};

/// The arrays of a search. Sentence s has beam_size places of `survivors` and of `finished` from
/// s * beam_size on, and for each step as many of `tokens`.
struct SearchArrays {
  SearchState* state;
  std::int32_t* length_limits;  ///< of sentences
  std::int32_t* suppressed;     ///< ascending
  LiveRow* live;
  std::int32_t* live_begin;      ///< first row of each sentence, and one past the last
  LiveRow* survivors;            ///< of a step
  std::int32_t* survivor_count;  ///< of sentences
  SearchRecord::Token* tokens;
  SearchRecord::Finished* finished;
  std::int32_t* finished_count;  ///< of sentences
};

/// Sets the state, which comes with the launch since a copy could read it late, and a live row for
/// each sentence. What the state counts is in device memory.
void launch_start_search(cudaStream_t stream, const SearchArrays& search, const SearchState& state);

/// Between two steps: another sentence, which may take so many words, takes the place of each for
/// which `length_limits` has more than 0, and begins with a live row.
void launch_refill(cudaStream_t stream, const SearchArrays& search,
                   const std::int32_t* length_limits, std::int32_t most_sentences);

/// The best continuations of the live rows, of at most `most_beam` of each sentence, become tokens,
/// and the live rows or finished hypotheses. `most_sentences` bounds the sentences.
void launch_expand(cudaStream_t stream, const SearchArrays& search, const RowsOf<float>& scores,
                   const RowsOf<std::int32_t>& words, std::int32_t most_sentences,
                   std::int32_t most_beam);

}  // namespace fuselage::cuda
