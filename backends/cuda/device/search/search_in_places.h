#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "backends/cuda/device/rows/place_tables.h"
#include "backends/cuda/device/runtime/staged_ints.h"
#include "backends/cuda/device/runtime/stream.h"
#include "backends/cuda/device/search/beam_search.h"
#include "fuselage/backends/executable.h"
#include "fuselage/backends/place_limits.h"

namespace fuselage::cuda {

/// Searches on the device of sentences that come and go. The host stays some steps ahead, as in
/// SearchLoop, and hears of a step's words when later steps are under way. So the search of a
/// sentence goes on for a few steps without rows before its place is given away.
class SearchInPlaces : public PlaceSearch {
 public:
  /// Enqueues a step with at most `hypotheses` live hypotheses.
  using Step = std::function<void(std::int32_t hypotheses)>;

  /// `frame` is an open store of `limits`, those of PlaceTables::with_pages(), on the device of
  /// this number, which is the current one here; `step` may rely on that too. Reserves memory; all
  /// streams must be idle. Throws OutOfMemory.
  SearchInPlaces(const RowFrame& frame, const PlaceLimits& limits, const SearchSettings& settings,
                 int device, const Stream& stream, Step step);

  void begin(std::span<const std::int32_t> places,
             std::span<const std::int32_t> length_limits) override;
  std::span<const std::int32_t> step() override;
  const SearchRecord& record(std::int32_t place) const override;
  void drop(std::int32_t place) override;

  /// Frees the rows of a place.
  void release(std::int32_t place) { tables_.release(place); }

  const DeviceSearch& search() const { return search_; }
  const PlaceTables& tables() const { return tables_; }

 private:
  /// Steps that the host is ahead of the device, to hide the latency of launches.
  static constexpr std::int64_t kStepsAhead = 4;

  struct Place {
    bool runs = false;
    std::int64_t first_step = 0;  ///< number of its first step
    std::int32_t words = 0;       ///< of its hypotheses, in the steps whose results are known
    std::int32_t rows = 0;        ///< after these steps
    SearchRecord record;
  };

  Place& at(std::int32_t place) { return places_[static_cast<std::size_t>(place)]; }
  std::int32_t bound(const Place& place) const;
  void change(std::span<const std::int32_t> places, std::span<const std::int32_t> length_limits);
  void read_step(std::int64_t number);
  void read_words(std::int32_t number, const DeviceSearch::StepResults& results);

  const RowFrame& frame_;
  const SearchSettings settings_;
  const int device_;
  const Stream& stream_;
  Step run_step_;
  DeviceSearch search_;
  PlaceTables tables_;
  StagedInts changes_;
  StagedInts::Array limits_;  ///< by place, as DeviceSearch::change() takes them
  std::vector<DeviceSearch::StepResults> results_;
  std::array<Event, kStepsAhead> done_;
  std::int64_t steps_ = 0;  ///< enqueued so far
  std::vector<Place> places_;
  std::vector<std::int32_t> running_, ended_, new_limits_;
};

}  // namespace fuselage::cuda
