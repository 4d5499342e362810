#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace fuselage::cuda {

// The expected results of output layers, by plain loops.

/// The k best of a row.
struct Ranking {
  std::vector<double> values;
  std::vector<std::int32_t> ids;
};

/// The k best of scores by `keys`, with NaN as -infinity and ties by column.
inline Ranking ranking_of(const std::vector<double>& scores, const std::vector<double>& keys,
                          std::int32_t k) {
  const auto key = [&](std::int32_t i) {
    const double own = keys[static_cast<std::size_t>(i)];
    return std::isnan(own) ? -std::numeric_limits<double>::infinity() : own;
  };
  std::vector<std::int32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  const auto count = std::min<std::ptrdiff_t>(k, std::ssize(order));
  std::partial_sort(order.begin(), order.begin() + count, order.end(),
                    [&](std::int32_t a, std::int32_t b) {
                      return key(a) > key(b) || (key(a) == key(b) && a < b);
                    });
  Ranking best;
  for (std::int32_t i = 0; i < k; ++i) {
    const bool is_there = i < count;
    best.ids.push_back(is_there ? order[static_cast<std::size_t>(i)] : -1);
    const double score = is_there ? scores[static_cast<std::size_t>(best.ids.back())] : NAN;
    best.values.push_back(std::isnan(score) ? -std::numeric_limits<double>::infinity() : score);
  }
  return best;
}

/// Log-probabilities; all NaN if the logits have none.
inline std::vector<double> log_softmax_of(const std::vector<double>& logits) {
  double top = -std::numeric_limits<double>::infinity();
  for (const double logit : logits) top = std::fmax(top, logit);
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit - top);
  std::vector<double> scores;
  scores.reserve(logits.size());
  for (const double logit : logits) scores.push_back(logit - top - std::log(sum));
  return scores;
}

/// The k best by logits, as logits or log-probabilities.
inline Ranking best_of(const std::vector<double>& logits, std::int32_t k, bool log_softmax) {
  if (!log_softmax) return ranking_of(logits, logits, k);
  const std::vector<double> scores = log_softmax_of(logits);
  const bool none =
      std::all_of(scores.begin(), scores.end(), [](double s) { return std::isnan(s); });
  return ranking_of(scores, none ? scores : logits, k);
}

}  // namespace fuselage::cuda
