#include <climits>
#include <cmath>

#include "backends/cuda/device/runtime/early_start.h"
#include "backends/cuda/device/runtime/launch.h"
#include "backends/cuda/device/runtime/prefix_sum.h"
#include "backends/cuda/device/runtime/shared_memory.h"
#include "backends/cuda/device/runtime/thread_group.h"
#include "backends/cuda/device/search/search_kernels.h"

namespace fuselage::cuda {
namespace {

constexpr std::uint32_t kStartThreads = 256;
constexpr std::uint32_t kExpandThreads = 128;
constexpr std::uint32_t kMoveThreads = 128;
constexpr std::int32_t kSentencesPerBlock = 16;  ///< of move_survivors

/// The initial hypothesis of a sentence.
__device__ LiveHypothesis first_row(std::int32_t sentence) {
  return {sentence, -1, -1, -1, 0, 0.0f};
}

__global__ void start_search(SearchArrays search, SearchState state) {
  const std::int32_t sentences = state.sentences;
  if (threadIdx.x == 0) *search.state = state;
  for (auto s = static_cast<std::int32_t>(threadIdx.x); s <= sentences;
       s += static_cast<std::int32_t>(blockDim.x)) {
    const bool begins = state.status.live_rows > 0;
    search.live_begin[s] = begins ? s : 0;
    if (!begins || s == sentences) continue;
    search.live[s] = first_row(s);
    search.finished_count[s] = 0;
  }
}

/// A continuation of a live row by a word.
struct Candidate {
  float path_score;  ///< infinity for NaN
  float score;
  std::int32_t row;  ///< within the sentence
  std::int32_t word;
};

/// The order of a sentence's candidates: by path score, then row, then word.
__device__ bool before(const Candidate& a, const Candidate& b) {
  if (a.path_score != b.path_score) return a.path_score > b.path_score;
  return a.row != b.row ? a.row < b.row : a.word < b.word;
}

// Sentinels before and after all candidates.
__device__ Candidate no_candidate_yet() { return {INFINITY, 0.0f, -1, -1}; }
__device__ Candidate no_candidate_left() { return {-INFINITY, 0.0f, INT_MAX, INT_MAX}; }

__device__ Candidate shuffle_xor(const Candidate& value, int offset) {
  return {cuda::shuffle_xor(value.path_score, offset), cuda::shuffle_xor(value.score, offset),
          cuda::shuffle_xor(value.row, offset), cuda::shuffle_xor(value.word, offset)};
}

/// The first of the candidates of a warp's lanes.
__device__ Candidate first_of_warp(const Candidate& own) {
  return reduce_lanes<kWarpSize>(
      own, [](const Candidate& a, const Candidate& b) { return before(b, a) ? b : a; });
}

__device__ bool is_suppressed(const SearchArrays& search, std::int32_t word) {
  std::int32_t begin = 0;
  std::int32_t end = search.state->suppressed;
  while (begin < end) {
    const std::int32_t middle = (begin + end) / 2;
    if (search.suppressed[middle] == word) return true;
    if (search.suppressed[middle] < word)
      begin = middle + 1;
    else
      end = middle;
  }
  return false;
}

/// The live rows of a sentence.
struct SentenceRows {
  const LiveHypothesis* live;
  std::int32_t first;  ///< row number of the first
  std::int32_t count;
};

/// The first candidate of a row after `last`. All lanes of the warp must call it.
__device__ Candidate next_of_row(const SearchArrays& search, const SentenceRows& rows,
                                 const RowsOf<float>& scores, const RowsOf<std::int32_t>& words,
                                 std::int32_t row, const Candidate& last) {
  const float* row_scores = row_of(scores, rows.first + row);
  const std::int32_t* row_words = row_of(words, rows.first + row);
  const float path_score = rows.live[row].path_score;
  Candidate first = no_candidate_left();
  for (auto i = lane_id(); i < words.columns; i += kWarpSize) {
    const std::int32_t word = row_words[i];
    if (word < 0 || is_suppressed(search, word)) continue;
    const float sum = __fadd_rn(path_score, row_scores[i]);
    const Candidate candidate{std::isnan(sum) ? INFINITY : sum, row_scores[i], row, word};
    if (before(last, candidate) && before(candidate, first)) first = candidate;
  }
  return first_of_warp(first);
}

/// The first of the rows' candidates. All lanes of the warp must call it.
__device__ Candidate first_of_rows(const Candidate* heads, std::int32_t rows) {
  Candidate first = no_candidate_left();
  for (auto row = lane_id(); row < rows; row += kWarpSize)
    if (before(heads[row], first)) first = heads[row];
  return first_of_warp(first);
}

/// Counts of a sentence's chosen candidates in this step.
struct Taken {
  std::int32_t tokens = 0;
  std::int32_t survivors = 0;
};

/// Appends a candidate as a token of a sentence that came alone. Returns the token's number.
__device__ std::int32_t keep_step_token(const SearchArrays& search, const LiveHypothesis& parent,
                                        const Candidate& chosen, bool ends, std::int32_t number) {
  const std::int32_t s = parent.sentence;
  search.step_tokens[s * search.state->beam_size + number] = {
      chosen.word, parent.token, chosen.score, chosen.path_score, ends ? 1 : 0};
  return (parent.token < 0 ? 0 : search.token_count[s]) + number;
}

/// The same for a sentence of a batch.
__device__ std::int32_t keep_token(const SearchArrays& search, const LiveHypothesis& parent,
                                   const Candidate& chosen, bool ends, std::int32_t number) {
  const SearchState& state = *search.state;
  const std::int32_t s = parent.sentence;
  const std::int32_t slots = s * state.beam_size;
  const std::int32_t token =
      state.status.steps * state.sentences * state.beam_size + slots + number;
  search.tokens[token] = {chosen.word, parent.token, chosen.score};
  if (ends)
    search.finished[slots + search.finished_count[s]++] = {s, token, parent.length + 1,
                                                           chosen.path_score};
  return token;
}

/// Appends a candidate as a token, and as a finished hypothesis or a survivor. Called by one
/// thread.
__device__ void take(const SearchArrays& search, const LiveHypothesis& parent,
                     const Candidate& chosen, std::int32_t row, Taken& taken) {
  SearchState& state = *search.state;
  const std::int32_t s = parent.sentence;
  const std::int32_t slots = s * state.beam_size;
  const std::int32_t length = parent.length + 1;
  const bool ends = chosen.word == state.end_id || length >= search.length_limits[s];
  const std::int32_t number = taken.tokens++;
  const std::int32_t token = search.step_tokens
                                 ? keep_step_token(search, parent, chosen, ends, number)
                                 : keep_token(search, parent, chosen, ends, number);
  if (ends) return;
  if (chosen.word >= state.vocabulary)
    atomicMax(&state.status.unknown_word, chosen.word);
  else
    search.survivors[slots + taken.survivors++] = {s,   token,  chosen.word,
                                                   row, length, chosen.path_score};
}

/// Takes the best candidates of a sentence, one after the other. All lanes of the warp must call
/// it; the first one writes and counts.
__device__ Taken take_best(const SearchArrays& search, const SentenceRows& rows,
                           const RowsOf<float>& scores, const RowsOf<std::int32_t>& words,
                           Candidate* heads) {
  const bool writes = threadIdx.x % kWarpSize == 0;
  const std::int32_t width = rows.live[0].token < 0 ? search.state->beam_size : rows.count;
  Taken taken;
  for (std::int32_t i = 0; i < width; ++i) {
    const Candidate chosen = first_of_rows(heads, rows.count);
    if (!std::isfinite(chosen.path_score)) {
      if (writes && i == 0)  // as an unsigned number, -1 is the maximum
        atomicMin(reinterpret_cast<std::uint32_t*>(&search.state->status.error_step),
                  static_cast<std::uint32_t>(rows.live[0].length));
      break;
    }
    if (writes) take(search, rows.live[chosen.row], chosen, rows.first + chosen.row, taken);
    const Candidate next = next_of_row(search, rows, scores, words, chosen.row, chosen);
    __syncwarp();
    if (writes) heads[chosen.row] = next;
    __syncwarp();
  }
  return taken;
}

/// A block for each sentence.
__global__ void expand(SearchArrays search, RowsOf<float> scores, RowsOf<std::int32_t> words) {
  start_early();
  const auto s = static_cast<std::int32_t>(blockIdx.x);
  if (s >= search.state->sentences) return;
  const std::int32_t first = search.live_begin[s];
  const SentenceRows rows{search.live + first, first, search.live_begin[s + 1] - first};
  if (rows.count == 0) {
    if (threadIdx.x != 0) return;
    search.survivor_count[s] = 0;
    if (search.step_tokens) search.step_token_count[s] = 0;
    return;
  }
  auto* heads = dynamic_shared<Candidate>();
  const auto warp = static_cast<std::int32_t>(threadIdx.x) / kWarpSize;
  const auto warps = static_cast<std::int32_t>(blockDim.x) / kWarpSize;
  for (std::int32_t row = warp; row < rows.count; row += warps) {
    const Candidate best = next_of_row(search, rows, scores, words, row, no_candidate_yet());
    if (threadIdx.x % kWarpSize == 0) heads[row] = best;
  }
  __syncthreads();
  if (warp != 0) return;
  const bool is_first = rows.live[0].token < 0;
  const Taken taken = take_best(search, rows, scores, words, heads);
  if (threadIdx.x != 0) return;
  search.survivor_count[s] = taken.survivors;
  if (!search.step_tokens) return;
  search.step_token_count[s] = taken.tokens;
  search.token_count[s] = (is_first ? 0 : search.token_count[s]) + taken.tokens;
}

/// Live rows survive. Sentences with a new length limit restart with an initial hypothesis; those
/// with a limit below 0 end. A block for each sentence.
__global__ void refill(SearchArrays search, const std::int32_t* length_limits) {
  const auto s = static_cast<std::int32_t>(blockIdx.x);
  if (s >= search.state->sentences) return;
  const bool begins = length_limits[s] > 0;
  const std::int32_t first = search.live_begin[s];
  const std::int32_t live = length_limits[s] < 0 ? 0 : search.live_begin[s + 1] - first;
  const std::int32_t count = begins ? 1 : live;
  for (auto i = static_cast<std::int32_t>(threadIdx.x); i < count;
       i += static_cast<std::int32_t>(blockDim.x))
    search.survivors[s * search.state->beam_size + i] =
        begins ? first_row(s) : search.live[first + i];
  if (threadIdx.x != 0) return;
  search.survivor_count[s] = count;
  if (!begins) return;
  search.finished_count[s] = 0;
  search.length_limits[s] = length_limits[s];
}

/// Compacts the survivors of all sentences to the next live rows. A block moves the survivors of
/// kSentencesPerBlock sentences.
__global__ void move_survivors(SearchArrays search, bool ends_step) {
  start_early();
  SearchState& state = *search.state;
  const auto begin = static_cast<std::int32_t>(blockIdx.x) * kSentencesPerBlock;
  if (begin >= state.sentences) return;
  const std::int32_t end = min(begin + kSentencesPerBlock, state.sentences);
  const auto survivors = [&](std::int32_t s) { return search.survivor_count[s]; };
  const std::int32_t before = prefix_sum(begin, survivors, [](std::int32_t, std::int32_t) {});
  const std::int32_t moved = prefix_sum(
      end - begin, [&](std::int32_t i) { return survivors(begin + i); },
      [&](std::int32_t i, std::int32_t sum) { search.live_begin[begin + i] = before + sum; });
  if (threadIdx.x == 0 && end == state.sentences) {
    search.live_begin[end] = before + moved;
    if (ends_step && state.status.live_rows > 0) ++state.status.steps;
    state.status.live_rows = before + moved;
  }
  __syncthreads();
  for (auto i = static_cast<std::int32_t>(threadIdx.x); i < (end - begin) * state.beam_size;
       i += static_cast<std::int32_t>(blockDim.x)) {
    const std::int32_t s = begin + i / state.beam_size;
    const std::int32_t rank = i % state.beam_size;
    if (rank < survivors(s))
      search.live[search.live_begin[s] + rank] = search.survivors[s * state.beam_size + rank];
  }
}

void launch_move(cudaStream_t stream, const SearchArrays& search, std::int32_t max_sentences,
                 bool ends_step) {
  launch_early(stream, move_survivors,
               {blocks_for(max_sentences, kSentencesPerBlock), kMoveThreads}, search, ends_step);
}

}  // namespace

void launch_start_search(cudaStream_t stream, const SearchArrays& search,
                         const SearchState& state) {
  launch(stream, start_search, {1, kStartThreads}, search, state);
}

void launch_refill(cudaStream_t stream, const SearchArrays& search,
                   const std::int32_t* length_limits, std::int32_t max_sentences) {
  launch(stream, refill, {static_cast<std::uint32_t>(max_sentences), kMoveThreads}, search,
         length_limits);
  launch_move(stream, search, max_sentences, false);
}

void launch_expand(cudaStream_t stream, const SearchArrays& search, const RowsOf<float>& scores,
                   const RowsOf<std::int32_t>& words, std::int32_t max_sentences,
                   std::int32_t max_beam) {
  const std::size_t heads = static_cast<std::size_t>(max_beam) * sizeof(Candidate);
  launch_early(stream, expand, {static_cast<std::uint32_t>(max_sentences), kExpandThreads, heads},
               search, scores, words);
  launch_move(stream, search, max_sentences, true);
}

}  // namespace fuselage::cuda
