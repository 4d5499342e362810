#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/row_frame.h"
#include "graph/graph.h"

namespace fuselage::cuda {

/// The least of few sizes that holds `count`: up to 2 * per_octave those of all numbers, beyond
/// `per_octave` sizes, evenly spaced, between a power of two and the next.
std::int64_t round_size(std::int64_t count, std::int64_t per_octave);

/// Bounds on a batch, from which sizes and addresses of all device memory of a worker follow. A
/// batch within another's layout can use its memory, and what was captured with it.
struct Layout {
  std::vector<std::int32_t> rows;  ///< most rows of each domain
  std::int32_t sentence = 0;       ///< words of the longest sentence: iterations of scans
  std::int32_t shortlist = 0;      ///< words of the longest shortlist
  std::int32_t steps = 0;          ///< most steps of a sentence

  /// Whether no bound of the other is larger.
  bool holds(const Layout& other) const;

  friend bool operator==(const Layout&, const Layout&) = default;
};

/// The exact bounds of the batch that `frame` has begun and reserved steps for. Throws Error where
/// rows cannot be counted in 31 bits.
Layout layout_of(const RowFrame& frame, std::span<const WordIds> sentences,
                 std::span<const WordIds> shortlists, const StepLimits& limits);

/// Each bound rounded by round_size; those of load-time domains stay.
Layout rounded(const Graph& graph, const Layout& layout, std::int64_t per_octave);

/// The larger and the smaller of each bound. A layout without rows holds nothing and joins with
/// any.
Layout joined(const Layout& a, const Layout& b);
Layout common(const Layout& a, const Layout& b);

/// Most hypotheses that live in one step.
std::int32_t most_hypotheses(const Graph& graph, const Layout& layout);

/// The most rows that each domain computes in one step, or in the source program, while no more
/// than `hypotheses` live.
std::vector<std::int32_t> live_bounds(const Graph& graph, const Layout& layout,
                                      std::int32_t hypotheses);

}  // namespace fuselage::cuda
