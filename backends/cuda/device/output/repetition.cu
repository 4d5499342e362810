#include <algorithm>
#include <limits>

#include "backends/cuda/device/output/repetition.h"
#include "backends/cuda/device/runtime/launch.h"

namespace fuselage::cuda {
namespace {

constexpr std::uint32_t kThreads = 256;
constexpr float kNever = -std::numeric_limits<float>::infinity();

__global__ void row_numbers_kernel(IndexPath via, float unmapped, Rows rows, RowsOut out) {
  const std::int64_t r = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (r >= *rows.live) return;
  const std::int64_t row = follow(via, r);
  row_of(out, r)[0] = row < 0 ? unmapped : static_cast<float>(row);
}

/// The text of a row.
struct Text {
  const RepeatedTexts* texts;
  std::int32_t begin, count;

  __device__ Text(const RepeatedTexts& all, std::int64_t r)
      : texts(&all), begin(all.pairs.begin[r]), count(all.pairs.begin[r + 1] - begin) {}

  __device__ std::int32_t word(std::int32_t i) const {
    return static_cast<std::int32_t>(row_of(texts->words, texts->via[begin + i])[0]);
  }

  /// The word that follows the last n - 1 words at place `at`; -1 if they are not there.
  __device__ std::int32_t repeated(std::int32_t at) const {
    const std::int32_t n = texts->ngram, last = count - (n - 1);
    for (std::int32_t i = 0; i < n - 1; ++i) {
      const std::int32_t own = word(last + i);
      if (own < 0 || word(at + i) != own) return -1;
    }
    return word(at + n - 1);
  }

  /// The last word of the sequence that begins at place `at`, if the text ends with its others and
  /// a sequence begins there; else -1.
  __device__ std::int32_t completed(std::int32_t at) const {
    const std::int32_t* sequence = texts->forbidden + at;
    if (at > 0 && sequence[-1] >= 0) return -1;
    std::int32_t before = 0;
    while (sequence[before + 1] >= 0) ++before;
    if (before > count) return -1;
    for (std::int32_t i = 0; i < before; ++i)
      if (word(count - before + i) != sequence[i]) return -1;
    return sequence[before];
  }
};

__device__ float penalized(float score, float penalty) {
  return score < 0 ? score * penalty : score / penalty;
}

/// A block for each text. Calls set(word, score of the unchanged score) for its words, and then for
/// words that would repeat an n-gram or complete a forbidden sequence, which get -infinity.
template <typename Set>
__device__ void penalize_text(const Text& text, const Set& set) {
  const float penalty = text.texts->penalty;
  const auto step = static_cast<std::int32_t>(blockDim.x);
  for (auto i = static_cast<std::int32_t>(threadIdx.x); penalty != 1 && i < text.count; i += step)
    if (const std::int32_t word = text.word(i); word >= 0) set(word, penalty, false);
  __syncthreads();
  const std::int32_t n = text.texts->ngram;
  for (auto at = static_cast<std::int32_t>(threadIdx.x); n > 0 && at < text.count - (n - 1);
       at += step)
    if (const std::int32_t word = text.repeated(at); word >= 0) set(word, penalty, true);
  for (auto at = static_cast<std::int32_t>(threadIdx.x); at < text.texts->forbidden_size;
       at += step)
    if (const std::int32_t word = text.completed(at); word >= 0) set(word, penalty, true);
}

__global__ void penalize_repeats_kernel(RowsIn scores, RepeatedTexts texts, Rows rows,
                                        std::int32_t columns, RowsOut out) {
  const std::int64_t r = blockIdx.x;
  if (r >= *rows.live) return;
  const float* from = row_of(scores, r);
  float* to = row_of(out, r);
  for (auto c = static_cast<std::int32_t>(threadIdx.x); c < columns;
       c += static_cast<std::int32_t>(blockDim.x))
    to[c] = element(from, c);
  __syncthreads();
  penalize_text(Text(texts, r), [&](std::int32_t word, float penalty, bool again) {
    if (word < columns) to[word] = again ? kNever : penalized(element(from, word), penalty);
  });
}

__global__ void penalize_listed_kernel(const float* scores, RepeatedTexts texts, Rows rows,
                                       ShortlistWords lists, float* out) {
  const std::int64_t r = blockIdx.x;
  if (r >= *rows.live) return;
  const std::int32_t begin = lists.pairs.begin[r], end = lists.pairs.begin[r + 1];
  for (std::int32_t p = begin + static_cast<std::int32_t>(threadIdx.x); p < end;
       p += static_cast<std::int32_t>(blockDim.x))
    out[p] = scores[p];
  __syncthreads();
  penalize_text(Text(texts, r), [&](std::int32_t word, float penalty, bool again) {
    std::int32_t low = begin, high = end;
    while (low < high) {
      const std::int32_t middle = low + (high - low) / 2;
      if (lists.words[lists.right[middle]] < word)
        low = middle + 1;
      else
        high = middle;
    }
    if (low < end && lists.words[lists.right[low]] == word)
      out[low] = again ? kNever : penalized(scores[low], penalty);
  });
}

LaunchConfig block_for_each(const Rows& rows) {
  return {dim3(static_cast<std::uint32_t>(rows.max_live)), dim3(kThreads)};
}

}  // namespace

void row_numbers(cudaStream_t stream, const IndexPath& via, float unmapped, const Rows& rows,
                 const RowsOut& out) {
  launch(stream, row_numbers_kernel, {blocks_for(rows.max_live, kThreads), kThreads}, via, unmapped,
         rows, out);
}

void penalize_repeats(cudaStream_t stream, const RowsIn& scores, const RepeatedTexts& texts,
                      const Rows& rows, std::int32_t columns, const RowsOut& out) {
  launch(stream, penalize_repeats_kernel, block_for_each(rows), scores, texts, rows, columns, out);
}

void penalize_repeats(cudaStream_t stream, const float* scores, const RepeatedTexts& texts,
                      const Rows& rows, const ShortlistWords& lists, float* out) {
  launch(stream, penalize_listed_kernel, block_for_each(rows), scores, texts, rows, lists, out);
}

}  // namespace fuselage::cuda
