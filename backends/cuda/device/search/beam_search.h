#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <span>
#include <vector>

#include "backends/cuda/device/rows/device_rows.h"
#include "backends/cuda/device/rows/live_hypotheses.h"
#include "backends/cuda/device/rows/row_tables.h"
#include "backends/cuda/device/runtime/memory.h"
#include "backends/cuda/device/runtime/rows.h"
#include "backends/cuda/device/search/search_kernels.h"
#include "fuselage/backends/executable.h"
#include "fuselage/graph/graph.h"

namespace fuselage::cuda {

/// Beam search on the device, with the same decisions as BeamSearch. A step is enqueue_rows(), the
/// step program, enqueue_expand(). Steps can be captured, since kernels read sizes and settings
/// from device memory. Without live hypotheses a step has no effect, so the host may enqueue more
/// steps than needed.
class DeviceSearch {
 public:
  using Status = SearchStatus;

  /// Bounds on batches and settings.
  struct Bounds {
    std::int32_t sentences = 0;
    std::int32_t beam_size = 0;
    std::int32_t steps = 0;  ///< words of a translation
    std::int32_t suppressed = 0;
    /// Of sentences that come and go, in place of steps: words of all that live at a time.
    std::int64_t words = 0;

    friend bool operator==(const Bounds&, const Bounds&) = default;
  };
  /// The largest beam. Larger beams are searched on the host.
  static constexpr std::int32_t kMaxBeam = 2048;

  /// `graph` declares the domains and maps of the step program.
  explicit DeviceSearch(const Graph& graph);

  /// Grows the memory for these bounds. Returns true if addresses changed, which makes captured
  /// launches invalid. After an Error no memory is allocated. The stream must be idle.
  bool reserve(const Bounds& bounds);
  /// The reserved bounds.
  const Bounds& bounds() const { return bounds_; }

  /// Begins the search of a batch within the bounds, with a live row for each sentence. Cannot be
  /// captured. The last search must have ended, and `settings` must live until this one has.
  void begin(cudaStream_t stream, const SearchSettings& settings, std::int32_t sentences);

  /// Begins without sentences, in place of a batch: `sentences` slots, whose words take the rows of
  /// `pages`. change() fills and empties slots, and results are those of each step.
  void open(cudaStream_t stream, const SearchSettings& settings, std::int32_t sentences,
            const WordPages& pages);
  /// Between two steps: for each slot, in device memory, the length limit of the sentence that
  /// begins in it, 0 if it goes on, or -1 if it ends. Cannot be captured.
  void change(cudaStream_t stream, const std::int32_t* length_limits) const;
  /// The results of a step of an open search, in page-locked memory.
  class StepResults {
   public:
    StepResults(std::int32_t sentences, std::int32_t beam_size);

    const Status& status() const;
    /// The words that the step took for a sentence.
    std::span<const StepToken> tokens(std::int32_t sentence) const;
    /// Hypotheses of a sentence that go on.
    std::int32_t survivors(std::int32_t sentence) const;

   private:
    friend DeviceSearch;
    std::int32_t sentences_, beam_size_;
    PinnedMemory integers_, tokens_;
  };
  /// Copies the results of the last step.
  void enqueue_results(cudaStream_t stream, const StepResults& results) const;
  /// Throws the Error of a status: scores that are not numbers, or a word that is not in the
  /// vocabulary.
  void expect_no_error(const Status& status) const;

  /// The sentences without live hypotheses. Waits for the stream.
  std::vector<std::int32_t> ended(cudaStream_t stream) const;

  /// A slot of a batch, by its sentence, and the length limit of the sentence that refills it.
  struct Slot {
    std::int32_t sentence = 0;
    std::int32_t length_limit = 0;
  };
  /// Between two steps: appends the results of ended sentences to `record` and begins the search of
  /// new sentences in their slots. From the next step on, source-time values of these slots must be
  /// those of the new sentences. Steps since begin() must stay within the bounds. Cannot be
  /// captured; waits for the stream. Throws Error as read() does.
  void refill(cudaStream_t stream, std::span<const Slot> slots, SearchRecord& record);

  /// Fills the step-time part of `rows` from the live hypotheses.
  void enqueue_rows(cudaStream_t stream, const DeviceRows& rows) const;

  /// Extends the live hypotheses by the best of each row's words. `scores` and `words` have the
  /// same number of columns, and the words of a row are distinct. Words below 0 are ignored.
  void enqueue_expand(cudaStream_t stream, const RowsOf<float>& scores,
                      const RowsOf<std::int32_t>& words) const;

  /// Copies the status to page-locked memory.
  void enqueue_status(cudaStream_t stream, Status* status) const;

  /// Waits for the stream and reads the results. Throws Error for scores that are NaN or infinite,
  /// and for a word that the model's vocabulary does not have.
  void read(cudaStream_t stream, SearchRecord& record) const;

 private:
  /// Addresses in device memory.
  struct Arrays {
    SearchArrays search{};
    std::int32_t* refill_limits = nullptr;  ///< by sentence
  };
  Arrays arrays() const;

  /// The results of a search so far, without tokens.
  struct Results {
    Status status;
    std::vector<SearchRecord::Finished> finished;
    std::vector<std::int32_t> finished_count, live_begin;  ///< by sentence

    void append(std::size_t sentence, std::size_t beam_size, SearchRecord& record) const;
  };
  Results results(cudaStream_t stream, SearchRecord& record) const;

  /// Sets the settings of a search.
  SearchState settings_of(cudaStream_t stream, const SearchSettings& settings,
                          std::int32_t sentences);

  RowTables tables_;
  Bounds bounds_;
  bool is_open_ = false;  ///< sentences come and go
  std::int32_t sentences_ = 0, beam_size_ = 0;
  std::vector<std::int32_t> refill_limits_;  ///< source of an asynchronous copy
  GrowingArray<std::int32_t> integers_;
  GrowingArray<LiveHypothesis> live_;
  GrowingArray<SearchRecord::Token> tokens_;
  GrowingArray<SearchRecord::Finished> finished_;
  GrowingArray<StepToken> step_tokens_;
};

}  // namespace fuselage::cuda
