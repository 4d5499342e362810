#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace fuselage {

/// Seconds of a steady clock.
double now();

/// CPU seconds of this thread.
double thread_seconds();

/// FLOP per second of products with operands in the first-level cache.
double measured_peak();

double median(std::vector<double> values);

/// The value below which a part of them lies, 0 to 1.
double quantile(std::vector<double> values, double part);

/// Bounds of the median of `values` with 95 % confidence, by bootstrap.
std::pair<double, double> median_bounds(const std::vector<double>& values);

/// Median seconds of a baseline and a candidate that ran alternately, and their ratio.
struct Comparison {
  double baseline = 0, candidate = 0;
  double ratio = 0, low = 0, high = 0;  ///< median and its 95 % bounds
};

/// Runs both `pairs` times in the order baseline, candidate, candidate, baseline, so that a drift
/// of the machine's speed affects both equally. `clock` is thread_seconds, or `now` for runs with
/// several threads.
Comparison compare(int pairs, const std::function<void()>& baseline,
                   const std::function<void()>& candidate, double (*clock)() = thread_seconds);

}  // namespace fuselage
