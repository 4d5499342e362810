#include "text/pages/markup_ranges.h"

namespace fuselage {
namespace {

/// The least weight for which a single word counts as aligned.
constexpr float kLeastWeight = 0.2F;

}  // namespace

float MarkupRanges::gain(std::size_t target, WordRange element) const {
  const float own = words_.weight(target, element.begin, element.end);
  return 2 * own - words_.weight(target, source_.begin, source_.end);
}

std::optional<WordRange> MarkupRanges::take(WordRange element) {
  if (target_.empty()) return std::nullopt;
  if (element == source_ && runs_ == 0) {
    ++runs_;
    owners_.assign(target_.size(), runs_);
    return target_;
  }
  // The run with the largest sum (Kadane's algorithm).
  WordRange best, run;
  float best_sum = 0, sum = 0, best_weight = kLeastWeight;
  std::optional<std::size_t> best_word;
  for (std::size_t t = target_.begin; t < target_.end; ++t) {
    if (is_taken(t)) {
      sum = 0;
      continue;
    }
    if (sum <= 0) {
      run.begin = t;
      sum = 0;
    }
    sum += gain(t, element);
    run.end = t + 1;
    if (sum > best_sum) {
      best_sum = sum;
      best = run;
    }
    if (const float weight = words_.weight(t, element.begin, element.end); weight > best_weight) {
      best_weight = weight;
      best_word = t;
    }
  }
  if (best.empty() && !best_word) return std::nullopt;
  if (best.empty()) best = {*best_word, *best_word + 1};
  ++runs_;
  owners_.resize(target_.size());
  for (std::size_t t = best.begin; t < best.end; ++t) owners_[t - target_.begin] = runs_;
  last_word_ = static_cast<std::size_t>(-1);
  return best;
}

bool MarkupRanges::is_within_taken(std::size_t place) const {
  if (place == target_.begin || place == target_.end || !is_taken(place)) return false;
  const std::size_t at = place - target_.begin;
  return owners_[at - 1] == owners_[at];
}

std::size_t MarkupRanges::place(std::size_t word, bool last) {
  if (word <= source_.begin) return target_.begin;
  if (word >= source_.end) return target_.end;
  if (word == last_word_) return last_place_;
  float score = 0, best = 0;
  std::size_t found = target_.begin;
  for (std::size_t place = target_.begin + 1; place <= target_.end; ++place) {
    score += words_.weight(place - 1, source_.begin, word);
    score -= words_.weight(place - 1, word, source_.end);
    const bool better = last ? score >= best : score > best;
    if (better && !is_within_taken(place)) {
      best = score;
      found = place;
    }
  }
  last_word_ = word;
  last_place_ = found;
  return found;
}

}  // namespace fuselage
