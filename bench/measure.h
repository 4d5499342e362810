#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace fuselage {

/// Seconds of a steady clock.
double now();

/// Seconds that this thread has had a processor: what others run meanwhile is left out.
double thread_seconds();

/// FLOP a second of products whose operands stay in the first-level cache.
double measured_peak();

double median(std::vector<double> values);

/// Bounds that hold the median of `values` with 95 % confidence, by resampling.
std::pair<double, double> median_bounds(const std::vector<double>& values);

/// Median seconds of a baseline and a candidate that ran turn and turn about, and their ratio.
struct Comparison {
  double baseline = 0, candidate = 0;
  double ratio = 0, low = 0, high = 0;  ///< median and its 95 % bounds
};

/// Runs both `pairs` times in the order baseline, candidate, candidate, baseline, so that a drift
/// of the machine's speed hits both alike. `clock` is thread_seconds unless they have threads.
Comparison compare(int pairs, const std::function<void()>& baseline,
                   const std::function<void()>& candidate, double (*clock)() = thread_seconds);

}  // namespace fuselage
