#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <span>
#include <vector>

#include "backends/cuda/device/rows/device_rows.h"
#include "backends/cuda/device/rows/live_rows.h"
#include "backends/cuda/device/rows/row_tables.h"
#include "backends/cuda/device/runtime/growing_array.h"
#include "backends/cuda/device/runtime/rows.h"
#include "backends/cuda/device/search/search_kernels.h"
#include "backends/executable.h"
#include "graph/graph.h"

namespace fuselage::cuda {

/// Beam search without the host: what BeamSearch does from one step of a model to the next, choice
/// for choice, as kernels. A step is enqueue_rows(), the step program, enqueue_expand(); all of it
/// can be captured, since sizes and settings are read from device memory, and does nothing once no
/// hypothesis lives, so that a host may enqueue more steps than there are.
class DeviceSearch {
 public:
  using Status = SearchStatus;

  /// How large a batch, and what is asked of it, can get.
  struct Bounds {
    std::int32_t sentences = 0;
    std::int32_t beam_size = 0;
    std::int32_t steps = 0;  ///< most words of a translation
    std::int32_t suppressed = 0;

    friend bool operator==(const Bounds&, const Bounds&) = default;
  };
  /// The largest beam; a search with a larger one is the host's.
  static constexpr std::int32_t kMaxBeam = 2048;

  /// `graph` declares the domains and maps of the step program.
  explicit DeviceSearch(const Graph& graph);

  /// Makes room, which only grows; true: captured launches are void. Throws Error when memory is
  /// short; then there is none. The stream must have nothing left to do.
  bool reserve(const Bounds& bounds);
  /// What there is room for.
  const Bounds& bounds() const { return bounds_; }

  /// Begins the search of a batch within the bounds: a live row for each sentence. Outside of
  /// captured work, and when that of an earlier search is done. `settings` must stay until then.
  void begin(cudaStream_t stream, const SearchSettings& settings, std::int32_t sentences);

  /// The sentences of which nothing lives any more. Waits for the stream.
  std::vector<std::int32_t> ended(cudaStream_t stream) const;

  /// A slot of a batch, by its sentence, and the most words of the translation that fills it.
  struct Slot {
    std::int32_t sentence = 0;
    std::int32_t length_limit = 0;
  };
  /// Between two steps: takes what sentences left of which nothing lives any more, and begins the
  /// search of others in their places. From the next step on, what the step program reads of these
  /// sentences must be that of the new ones; up to `beam_size` rows of each will live. The words of
  /// a search, from its first step on, are still bounded. Outside of captured work; waits for the
  /// stream. Throws Error as read() does.
  void refill(cudaStream_t stream, std::span<const Slot> slots, SearchRecord& record);

  /// Fills in the step-time part of `rows` from the live rows.
  void enqueue_rows(cudaStream_t stream, const DeviceRows& rows) const;

  /// Continues the live hypotheses with the best of the words that the step gave for each row, no
  /// word twice: `scores` and `words` have as many columns. Words below 0 are none.
  void enqueue_expand(cudaStream_t stream, const RowsOf<float>& scores,
                      const RowsOf<std::int32_t>& words) const;

  /// Copies how far the search is to pinned memory.
  void enqueue_status(cudaStream_t stream, Status* status) const;

  /// Waits for the stream and takes what a search left. Throws Error when it met scores that are
  /// not numbers, or a word that the model's vocabulary does not have.
  void read(cudaStream_t stream, SearchRecord& record) const;

 private:
  /// Where all is in device memory.
  struct Arrays {
    SearchArrays search{};
    std::int32_t* refill_limits = nullptr;  ///< of sentences
  };
  Arrays arrays() const;

  /// What a search has left up to now, beside its tokens.
  struct Results {
    Status status;
    std::vector<SearchRecord::Finished> finished;
    std::vector<std::int32_t> finished_count, live_begin;  ///< of sentences

    void append(std::size_t sentence, std::size_t beam_size, SearchRecord& record) const;
  };
  Results results(cudaStream_t stream, SearchRecord& record) const;

  RowTables tables_;
  Bounds bounds_;
  std::int32_t sentences_ = 0, beam_size_ = 0;
  std::vector<std::int32_t> refill_limits_;  ///< copied to the device
  GrowingArray<std::int32_t> integers_;
  GrowingArray<LiveRow> live_;
  GrowingArray<SearchRecord::Token> tokens_;
  GrowingArray<SearchRecord::Finished> finished_;
};

}  // namespace fuselage::cuda
