#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/exported.h"
#include "fuselage/backends/place_limits.h"
#include "fuselage/backends/row_frame.h"
#include "fuselage/graph/graph.h"

namespace fuselage::cuda {

/// Rounds `count` up to a bucket size: `per_octave` evenly spaced sizes from a power of two to the
/// next. Counts up to 2 * per_octave stay.
FUSELAGE_EXPORTED std::int64_t round_size(std::int64_t count, std::int64_t per_octave);

/// Bounds on a batch. They determine the sizes and addresses of a worker's device memory. A batch
/// within the bounds can use the memory and the captured graphs of the layout.
struct FUSELAGE_EXPORTED Layout {
  std::vector<std::int32_t> rows;  ///< rows of each domain
  std::int32_t sentence = 0;  ///< tokens of the longest sentence in any source: iterations of scans
  std::int32_t shortlist = 0;  ///< words of the longest shortlist
  std::int32_t steps = 0;      ///< steps of a sentence

  /// Whether each bound is at least the other's.
  bool holds(const Layout& other) const;

  friend bool operator==(const Layout&, const Layout&) = default;
};

/// The exact bounds of the batch of `frame`, of `sentences`, after begin_batch() and
/// reserve_steps(). Throws OutOfMemory for more than 2^31 - 1 rows.
FUSELAGE_EXPORTED Layout layout_of(const RowFrame& frame, std::size_t sentences,
                                   const StepLimits& limits);

/// The bounds of an open store: its sizes. A sentence alone may fill it. Throws as layout_of()
/// does.
FUSELAGE_EXPORTED Layout store_layout(const RowFrame& frame, const PlaceLimits& limits);

/// Rounds each bound by round_size(). Bounds of load-time domains stay.
FUSELAGE_EXPORTED Layout rounded(const Graph& graph, const Layout& layout, std::int64_t per_octave);

/// The maximum and the minimum of each bound. joined() also takes a default-constructed layout.
FUSELAGE_EXPORTED Layout joined(const Layout& a, const Layout& b);
FUSELAGE_EXPORTED Layout common(const Layout& a, const Layout& b);

/// The bound on live hypotheses of a step.
FUSELAGE_EXPORTED std::int32_t max_hypotheses(const Graph& graph, const Layout& layout);

/// Bounds on the new rows of each domain in one step, or in the source program, with at most
/// `hypotheses` live hypotheses.
FUSELAGE_EXPORTED std::vector<std::int32_t> live_bounds(const Graph& graph, const Layout& layout,
                                                        std::int32_t hypotheses);

}  // namespace fuselage::cuda
