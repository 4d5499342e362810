#include <climits>
#include <cmath>

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
constexpr std::int32_t kSentencesMoved = 16;  ///< by a block

/// The one live row of a sentence that has no words yet.
__device__ LiveRow first_row(std::int32_t sentence) { return {sentence, -1, -1, -1, 0, 0.0f}; }

__global__ void start_search(SearchArrays search, SearchState state) {
  const std::int32_t sentences = state.sentences;
  if (threadIdx.x == 0) *search.state = state;
  for (auto s = static_cast<std::int32_t>(threadIdx.x); s <= sentences;
       s += static_cast<std::int32_t>(blockDim.x)) {
    search.live_begin[s] = s;
    if (s == sentences) break;
    search.live[s] = first_row(s);
    search.finished_count[s] = 0;
  }
}

/// A word that may continue a live row.
struct Candidate {
  float path_score;  ///< infinite when it is not a number
  float score;
  std::int32_t row;  ///< counted within the sentence
  std::int32_t word;
};

/// The order of a sentence's candidates: better paths first, then earlier rows, then lower words.
__device__ bool before(const Candidate& a, const Candidate& b) {
  if (a.path_score != b.path_score) return a.path_score > b.path_score;
  return a.row != b.row ? a.row < b.row : a.word < b.word;
}

// Candidates that stand before and behind all others.
__device__ Candidate no_candidate_yet() { return {INFINITY, 0.0f, -1, -1}; }
__device__ Candidate no_candidate_left() { return {-INFINITY, 0.0f, INT_MAX, INT_MAX}; }

__device__ Candidate shuffle_xor(const Candidate& value, int offset) {
  return {cuda::shuffle_xor(value.path_score, offset), cuda::shuffle_xor(value.score, offset),
          cuda::shuffle_xor(value.row, offset), cuda::shuffle_xor(value.word, offset)};
}

/// The first of the candidates that a warp's lanes have.
__device__ Candidate first_of_warp(const Candidate& own) {
  return combine_lanes<kWarp>(
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

/// Live rows of a sentence, and the step's words for them.
struct SentenceRows {
  const LiveRow* live;
  std::int32_t first;  ///< of all live rows
  std::int32_t count;
};

/// The first candidate of a row that stands behind `last`. Work of a warp.
__device__ Candidate next_of_row(const SearchArrays& search, const SentenceRows& rows,
                                 const RowsOf<float>& scores, const RowsOf<std::int32_t>& words,
                                 std::int32_t row, const Candidate& last) {
  const float* row_scores = row_of(scores, rows.first + row);
  const std::int32_t* row_words = row_of(words, rows.first + row);
  const float path_score = rows.live[row].path_score;
  Candidate first = no_candidate_left();
  for (auto i = lane_of_thread(); i < words.columns; i += kWarp) {
    const std::int32_t word = row_words[i];
    if (word < 0 || is_suppressed(search, word)) continue;
    const float sum = __fadd_rn(path_score, row_scores[i]);
    const Candidate candidate{std::isnan(sum) ? INFINITY : sum, row_scores[i], row, word};
    if (before(last, candidate) && before(candidate, first)) first = candidate;
  }
  return first_of_warp(first);
}

/// The first candidate of all rows, given that of each. Work of a warp.
__device__ Candidate first_of_rows(const Candidate* heads, std::int32_t rows) {
  Candidate first = no_candidate_left();
  for (auto row = lane_of_thread(); row < rows; row += kWarp)
    if (before(heads[row], first)) first = heads[row];
  return first_of_warp(first);
}

/// What a sentence's candidates have become up to now in this step.
struct Taken {
  std::int32_t tokens = 0;
  std::int32_t survivors = 0;
};

/// Makes a candidate a token, and a finished hypothesis or a survivor. Work of one thread.
__device__ void take(const SearchArrays& search, const LiveRow& parent, const Candidate& chosen,
                     std::int32_t row, Taken& taken) {
  SearchState& state = *search.state;
  const std::int32_t s = parent.sentence;
  const std::int32_t slots = s * state.beam_size;
  const std::int32_t length = parent.length + 1;
  const std::int32_t token =
      state.status.steps * state.sentences * state.beam_size + slots + taken.tokens++;
  search.tokens[token] = {chosen.word, parent.token, chosen.score};
  if (chosen.word == state.end_id || length >= search.length_limits[s])
    search.finished[slots + search.finished_count[s]++] = {s, token, length, chosen.path_score};
  else if (chosen.word >= state.vocabulary)
    atomicMax(&state.status.unknown_word, chosen.word);
  else
    search.survivors[slots + taken.survivors++] = {s,   token,  chosen.word,
                                                   row, length, chosen.path_score};
}

/// Takes the best candidates of a sentence, one after the other; returns how many survive. Work of
/// a warp, whose first lane writes.
__device__ std::int32_t take_best(const SearchArrays& search, const SentenceRows& rows,
                                  const RowsOf<float>& scores, const RowsOf<std::int32_t>& words,
                                  Candidate* heads) {
  const bool writes = threadIdx.x % kWarp == 0;
  const std::int32_t width = rows.live[0].token < 0 ? search.state->beam_size : rows.count;
  Taken taken;
  for (std::int32_t i = 0; i < width; ++i) {
    const Candidate chosen = first_of_rows(heads, rows.count);
    if (!std::isfinite(chosen.path_score)) {
      if (writes && i == 0)  // as unsigned numbers, all are below -1
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
  return taken.survivors;
}

/// A block a sentence.
__global__ void expand(SearchArrays search, RowsOf<float> scores, RowsOf<std::int32_t> words) {
  const auto s = static_cast<std::int32_t>(blockIdx.x);
  if (s >= search.state->sentences) return;
  const std::int32_t first = search.live_begin[s];
  const SentenceRows rows{search.live + first, first, search.live_begin[s + 1] - first};
  if (rows.count == 0) {
    if (threadIdx.x == 0) search.survivor_count[s] = 0;
    return;
  }
  auto* heads = dynamic_shared<Candidate>();
  const auto warp = static_cast<std::int32_t>(threadIdx.x) / kWarp;
  const auto warps = static_cast<std::int32_t>(blockDim.x) / kWarp;
  for (std::int32_t row = warp; row < rows.count; row += warps) {
    const Candidate best = next_of_row(search, rows, scores, words, row, no_candidate_yet());
    if (threadIdx.x % kWarp == 0) heads[row] = best;
  }
  __syncthreads();
  if (warp != 0) return;
  const std::int32_t survivors = take_best(search, rows, scores, words, heads);
  if (threadIdx.x == 0) search.survivor_count[s] = survivors;
}

/// All live rows survive, and another sentence's first row where there is a limit for one. A block
/// a sentence.
__global__ void refill(SearchArrays search, const std::int32_t* length_limits) {
  const auto s = static_cast<std::int32_t>(blockIdx.x);
  if (s >= search.state->sentences) return;
  const bool begins = length_limits[s] > 0;
  const std::int32_t first = search.live_begin[s];
  const std::int32_t count = begins ? 1 : search.live_begin[s + 1] - first;
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

/// Puts the survivors of all sentences side by side; they are the next live rows. A block moves
/// those of some sentences, to behind those of all sentences before.
__global__ void move_survivors(SearchArrays search, bool ends_step) {
  SearchState& state = *search.state;
  const auto begin = static_cast<std::int32_t>(blockIdx.x) * kSentencesMoved;
  if (begin >= state.sentences) return;
  const std::int32_t end = min(begin + kSentencesMoved, state.sentences);
  const auto survivors = [&](std::int32_t s) { return search.survivor_count[s]; };
  const std::int32_t before = running_sum(begin, survivors, [](std::int32_t, std::int32_t) {});
  const std::int32_t moved = running_sum(
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

void launch_move(cudaStream_t stream, const SearchArrays& search, std::int32_t most_sentences,
                 bool ends_step) {
  launch(stream, move_survivors, {blocks_for(most_sentences, kSentencesMoved), kMoveThreads},
         search, ends_step);
}

}  // namespace

void launch_start_search(cudaStream_t stream, const SearchArrays& search,
                         const SearchState& state) {
  launch(stream, start_search, {1, kStartThreads}, search, state);
}

void launch_refill(cudaStream_t stream, const SearchArrays& search,
                   const std::int32_t* length_limits, std::int32_t most_sentences) {
  launch(stream, refill, {static_cast<std::uint32_t>(most_sentences), kMoveThreads}, search,
         length_limits);
  launch_move(stream, search, most_sentences, false);
}

void launch_expand(cudaStream_t stream, const SearchArrays& search, const RowsOf<float>& scores,
                   const RowsOf<std::int32_t>& words, std::int32_t most_sentences,
                   std::int32_t most_beam) {
  const std::size_t heads = static_cast<std::size_t>(most_beam) * sizeof(Candidate);
  launch(stream, expand, {static_cast<std::uint32_t>(most_sentences), kExpandThreads, heads},
         search, scores, words);
  launch_move(stream, search, most_sentences, true);
}

}  // namespace fuselage::cuda
