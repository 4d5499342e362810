#include "decoding/search/final_scores.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace fuselage {
namespace {

// The log-softmax of a word may be above 0 by rounding.
constexpr double kMaxWordScore = 2e-6;
// Scores are computed in float.
constexpr double kRounding = 1e-5;

}  // namespace

float FinalScores::of(float path_score, std::int32_t words) const {
  const auto n = static_cast<float>(words);
  return (path_score - word_penalty_ * n) / std::pow(n, normalize_);
}

double FinalScores::exactly(double path_score, double words) const {
  return (path_score - static_cast<double>(word_penalty_) * words) /
         std::pow(words, static_cast<double>(normalize_));
}

double FinalScores::bound(float path_score, std::int32_t first, std::int32_t last) const {
  const double path = path_score + kMaxWordScore * (last - first + 1);
  double most = std::max(exactly(path, first), exactly(path, last));
  // Between the ends the score is largest where its derivative by the number of words is 0.
  const double penalty = word_penalty_;
  const double extremum = -normalize_ * path / (penalty * (1.0 - normalize_));
  if (extremum > first && extremum < last) most = std::max(most, exactly(path, extremum));
  return most + kRounding * (1 + std::abs(most));
}

void BestScores::reset(std::size_t count) {
  count_ = count;
  scores_.clear();
  scores_.reserve(count + 1);
}

void BestScores::add(float score) {
  scores_.insert(std::upper_bound(scores_.begin(), scores_.end(), score, std::greater<>()), score);
  if (scores_.size() > count_) scores_.pop_back();
}

}  // namespace fuselage
