#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/rows/live_hypotheses.h"
#include "backends/cuda/device/runtime/rows.h"
#include "fuselage/backends/executable.h"

namespace fuselage::cuda {

// The kernels of DeviceSearch and their parameters, passed by value.

/// The progress of a search.
struct SearchStatus {
  std::int32_t live_rows = 0;
  std::int32_t steps = 0;          ///< steps with live hypotheses
  std::int32_t error_step = -1;    ///< first step of a sentence with invalid scores; -1: none
  std::int32_t unknown_word = -1;  ///< a chosen word outside of the vocabulary; -1: none
};

/// The progress and the settings of a search.
struct SearchState {
  SearchStatus status;
  std::int32_t sentences = 0;
  std::int32_t beam_size = 0;
  std::int32_t end_id = 0;
  std::int32_t vocabulary = 0;  ///< size of the vocabulary
  std::int32_t suppressed = 0;  ///< number of suppressed words
};

/// A word that a step took, of sentences that come and go.
struct StepToken {
  std::int32_t word;
  std::int32_t previous;  ///< number of the token before, within the sentence; -1: none
  float score;
  float path_score;
  std::int32_t ends;  ///< 1: it ends its hypothesis
};

/// The arrays of a search. `survivors` and `finished` have beam_size slots for each sentence, and
/// `tokens` as many for each sentence and step. Of sentences that come and go, which may take any
/// number of steps together, only the tokens of one step are kept.
struct SearchArrays {
  SearchState* state;
  std::int32_t* length_limits;  ///< by sentence
  std::int32_t* suppressed;     ///< ascending
  LiveHypothesis* live;
  std::int32_t* live_begin;      ///< first row of each sentence, and the number of rows
  LiveHypothesis* survivors;     ///< of a step
  std::int32_t* survivor_count;  ///< by sentence
  SearchRecord::Token* tokens;
  SearchRecord::Finished* finished;
  std::int32_t* finished_count;  ///< by sentence

  // Of sentences that come and go, else null.
  StepToken* step_tokens;          ///< of a step: beam_size slots for each sentence
  std::int32_t* step_token_count;  ///< by sentence
  std::int32_t* token_count;       ///< by sentence: tokens of all its steps
};

/// Sets the state, and a live row for each sentence unless state.status.live_rows is 0. The state
/// is a kernel parameter, since an asynchronous copy could read it too late.
void launch_start_search(cudaStream_t stream, const SearchArrays& search, const SearchState& state);

/// Between two steps: begins a new sentence, with a live row and this length limit, in each slot
/// with length_limits[s] > 0, and ends the search of those with length_limits[s] < 0.
void launch_refill(cudaStream_t stream, const SearchArrays& search,
                   const std::int32_t* length_limits, std::int32_t max_sentences);

/// Takes the best continuations of each sentence's live rows. Each becomes a token, and a live row
/// or a finished hypothesis. `max_sentences` and `max_beam` bound sentences and rows per sentence.
void launch_expand(cudaStream_t stream, const SearchArrays& search, const RowsOf<float>& scores,
                   const RowsOf<std::int32_t>& words, std::int32_t max_sentences,
                   std::int32_t max_beam);

}  // namespace fuselage::cuda
