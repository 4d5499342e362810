#include "backends/cuda/device/search/beam_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "backends/cuda/device/runtime/launch.h"
#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

constexpr Purpose kPurpose{"the hypotheses of a search",
                           "use a smaller mini-batch, beam-size or max-length-factor"};
constexpr std::size_t kStateSize = sizeof(SearchState) / sizeof(std::int32_t);

template <typename T>
void upload(cudaStream_t stream, T* to, const T* from, std::size_t count) {
  if (count == 0) return;
  expect_success(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyHostToDevice, stream),
                 "copy of a search's settings");
}

template <typename T>
void download(cudaStream_t stream, T* to, const T* from, std::size_t count) {
  if (count == 0) return;
  expect_success(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDeviceToHost, stream),
                 "copy of a search's results");
}

std::size_t size(std::int32_t count) { return static_cast<std::size_t>(count); }

}  // namespace

DeviceSearch::DeviceSearch(const Graph& graph) : tables_(graph) {}

bool DeviceSearch::reserve(const Bounds& bounds) {
  check(bounds.beam_size <= kMaxBeam, "the beam is too large for a search on the device");
  const Bounds all{
      std::max(bounds_.sentences, bounds.sentences), std::max(bounds_.beam_size, bounds.beam_size),
      std::max(bounds_.steps, bounds.steps), std::max(bounds_.suppressed, bounds.suppressed),
      std::max(bounds_.words, bounds.words)};
  const std::size_t sentences = size(all.sentences);
  const std::size_t rows = sentences * size(all.beam_size);
  const std::size_t tokens = rows * size(all.steps);
  if (tokens > size(std::numeric_limits<std::int32_t>::max()))
    throw OutOfMemory(fmt::format(
        "a search of {} sentences with {} hypotheses of up to {} words has {} tokens, more than "
        "the "
        "{} that a GPU can count; {}",
        all.sentences, all.beam_size, all.steps, tokens, std::numeric_limits<std::int32_t>::max(),
        kPurpose.advice));
  const std::size_t integers = kStateSize + 7 * sentences + 1 + size(all.suppressed);
  bounds_ = {};  // in case of an Error
  bool moved = tables_.reserve({.sentences = all.sentences,
                                .hypotheses = static_cast<std::int32_t>(rows),
                                .words = std::max(static_cast<std::int64_t>(tokens), all.words)});
  moved |= integers_.reserve(integers, kPurpose);
  moved |= live_.reserve(2 * rows, kPurpose);
  moved |= tokens_.reserve(tokens, kPurpose);
  moved |= finished_.reserve(rows, kPurpose);
  if (all.words > 0) moved |= step_tokens_.reserve(rows, kPurpose);
  bounds_ = all;
  return moved;
}

DeviceSearch::Arrays DeviceSearch::arrays() const {
  Arrays at;
  const std::size_t sentences = size(bounds_.sentences);
  std::int32_t* next = integers_.data();
  const auto cut = [&](std::size_t count) { return std::exchange(next, next + count); };
  SearchArrays& search = at.search;
  search.state = reinterpret_cast<SearchState*>(cut(kStateSize));
  // These are copied together: see StepResults.
  search.step_token_count = cut(sentences);
  search.survivor_count = cut(sentences);
  search.length_limits = cut(sentences);
  search.suppressed = cut(size(bounds_.suppressed));
  search.live_begin = cut(sentences + 1);
  search.token_count = cut(sentences);
  search.finished_count = cut(sentences);
  at.refill_limits = cut(sentences);
  search.live = live_.data();
  search.survivors = live_.data() + sentences * size(bounds_.beam_size);
  search.tokens = tokens_.data();
  search.finished = finished_.data();
  search.step_tokens = is_open_ ? step_tokens_.data() : nullptr;
  return at;
}

void DeviceSearch::begin(cudaStream_t stream, const SearchSettings& settings,
                         std::int32_t sentences) {
  const std::vector<std::int32_t>& limits = settings.length_limits;
  check(size(sentences) == limits.size(), "each sentence has a length limit");
  check(std::all_of(limits.begin(), limits.end(),
                    [&](std::int32_t limit) { return limit <= bounds_.steps; }),
        "a search exceeds the reserved steps");
  is_open_ = false;
  SearchState state = settings_of(stream, settings, sentences);
  state.status.live_rows = sentences;
  const SearchArrays search = arrays().search;
  upload(stream, search.length_limits, limits.data(), limits.size());
  tables_.begin(stream);
  launch_start_search(stream, search, state);
}

SearchState DeviceSearch::settings_of(cudaStream_t stream, const SearchSettings& settings,
                                      std::int32_t sentences) {
  const auto suppressed = static_cast<std::int32_t>(settings.suppressed.size());
  check(sentences <= bounds_.sentences && settings.beam_size <= bounds_.beam_size &&
            suppressed <= bounds_.suppressed,
        "a search exceeds the reserved bounds");
  sentences_ = sentences;
  beam_size_ = settings.beam_size;
  upload(stream, arrays().search.suppressed, settings.suppressed.data(),
         settings.suppressed.size());
  return {.status = {},
          .sentences = sentences,
          .beam_size = settings.beam_size,
          .end_id = settings.end_id,
          .vocabulary = tables_.vocabulary(),
          .suppressed = suppressed};
}

void DeviceSearch::open(cudaStream_t stream, const SearchSettings& settings, std::int32_t sentences,
                        const WordPages& pages) {
  check(bounds_.words > 0, "no memory is reserved for sentences that come and go");
  is_open_ = true;
  const SearchState state = settings_of(stream, settings, sentences);
  tables_.begin(stream, pages);
  launch_start_search(stream, arrays().search, state);
}

void DeviceSearch::change(cudaStream_t stream, const std::int32_t* length_limits) const {
  launch_refill(stream, arrays().search, length_limits, bounds_.sentences);
}

DeviceSearch::StepResults::StepResults(std::int32_t sentences, std::int32_t beam_size)
    : sentences_(sentences),
      beam_size_(beam_size),
      integers_((kStateSize + 2 * size(sentences)) * sizeof(std::int32_t)),
      tokens_(size(sentences) * size(beam_size) * sizeof(StepToken)) {}

const SearchStatus& DeviceSearch::StepResults::status() const {
  return reinterpret_cast<const SearchState*>(integers_.data())->status;
}

std::span<const StepToken> DeviceSearch::StepResults::tokens(std::int32_t sentence) const {
  const auto* counts = reinterpret_cast<const std::int32_t*>(integers_.data()) + kStateSize;
  const auto* tokens = reinterpret_cast<const StepToken*>(tokens_.data());
  return {tokens + size(sentence) * size(beam_size_), size(counts[sentence])};
}

std::int32_t DeviceSearch::StepResults::survivors(std::int32_t sentence) const {
  const auto* counts = reinterpret_cast<const std::int32_t*>(integers_.data()) + kStateSize;
  return counts[sentences_ + sentence];
}

void DeviceSearch::enqueue_results(cudaStream_t stream, const StepResults& results) const {
  check(results.sentences_ == bounds_.sentences && results.beam_size_ == beam_size_,
        "results of a search with other bounds");
  const SearchArrays search = arrays().search;
  download(stream, reinterpret_cast<std::int32_t*>(results.integers_.data()),
           reinterpret_cast<const std::int32_t*>(search.state),
           results.integers_.size_bytes() / sizeof(std::int32_t));
  download(stream, reinterpret_cast<StepToken*>(results.tokens_.data()),
           static_cast<const StepToken*>(search.step_tokens),
           results.tokens_.size_bytes() / sizeof(StepToken));
}

void DeviceSearch::expect_no_error(const Status& status) const {
  if (status.error_step >= 0) throw Error(scores_are_not_numbers(status.error_step));
  if (status.unknown_word >= 0)
    throw Error(fmt::format(
        "the output layer chose word {}, but the target embeddings have {} entries; use a model "
        "with one size of target vocabulary",
        status.unknown_word, tables_.vocabulary()));
}

void DeviceSearch::enqueue_rows(cudaStream_t stream, const DeviceRows& rows) const {
  const SearchArrays search = arrays().search;
  tables_.enqueue(stream, rows,
                  {search.live, search.live_begin, &search.state->sentences, bounds_.sentences});
}

void DeviceSearch::enqueue_expand(cudaStream_t stream, const RowsOf<float>& scores,
                                  const RowsOf<std::int32_t>& words) const {
  launch_expand(stream, arrays().search, scores, words, bounds_.sentences, bounds_.beam_size);
}

void DeviceSearch::enqueue_status(cudaStream_t stream, Status* status) const {
  download(stream, status, &arrays().search.state->status, 1);
}

void DeviceSearch::Results::append(std::size_t sentence, std::size_t beam_size,
                                   SearchRecord& record) const {
  check(live_begin[sentence] == live_begin[sentence + 1], "a sentence is read before it has ended");
  const auto begin = finished.begin() + static_cast<std::ptrdiff_t>(sentence * beam_size);
  record.finished.insert(record.finished.end(), begin, begin + finished_count[sentence]);
}

DeviceSearch::Results DeviceSearch::results(cudaStream_t stream, SearchRecord& record) const {
  const SearchArrays search = arrays().search;
  Results results;
  download(stream, &results.status, &search.state->status, 1);
  expect_success(cudaStreamSynchronize(stream), "a search");
  const Status& status = results.status;
  expect_no_error(status);
  const std::size_t slots = size(sentences_) * size(beam_size_);
  results.finished.resize(slots);
  results.finished_count.resize(size(sentences_));
  results.live_begin.resize(size(sentences_) + 1);
  record.finished.clear();
  record.tokens.resize(size(status.steps) * slots);
  download(stream, record.tokens.data(), search.tokens, record.tokens.size());
  download(stream, results.finished.data(), search.finished, slots);
  download(stream, results.finished_count.data(), search.finished_count,
           results.finished_count.size());
  download(stream, results.live_begin.data(), search.live_begin, results.live_begin.size());
  expect_success(cudaStreamSynchronize(stream), "reading a search");
  return results;
}

void DeviceSearch::read(cudaStream_t stream, SearchRecord& record) const {
  const Results left = results(stream, record);
  for (std::size_t s = 0; s < size(sentences_); ++s) left.append(s, size(beam_size_), record);
}

std::vector<std::int32_t> DeviceSearch::ended(cudaStream_t stream) const {
  std::vector<std::int32_t> begin(size(sentences_) + 1);
  download(stream, begin.data(), arrays().search.live_begin, begin.size());
  expect_success(cudaStreamSynchronize(stream), "a search");
  std::vector<std::int32_t> ended;
  for (std::int32_t s = 0; s < sentences_; ++s)
    if (begin[size(s)] == begin[size(s) + 1]) ended.push_back(s);
  return ended;
}

void DeviceSearch::refill(cudaStream_t stream, std::span<const Slot> slots, SearchRecord& record) {
  const Results left = results(stream, record);
  refill_limits_.assign(size(sentences_), 0);
  for (const Slot& slot : slots) {
    check(slot.length_limit > 0 && slot.length_limit <= bounds_.steps - left.status.steps,
          "a search exceeds the reserved steps");
    left.append(size(slot.sentence), size(beam_size_), record);
    refill_limits_.at(size(slot.sentence)) = slot.length_limit;
  }
  const Arrays at = arrays();
  upload(stream, at.refill_limits, refill_limits_.data(), refill_limits_.size());
  launch_refill(stream, at.search, at.refill_limits, bounds_.sentences);
}

}  // namespace fuselage::cuda
