#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "fuselage/ops/sampling.h"

namespace fuselage {

// The steps of the ops that draw words, for the reference evaluation and the CPU's kernels.

/// Sets the scores of words that are left out to -infinity: excluded ones, and with `top_k` all
/// after the first so many others. `word_of(i)` is the word of score i.
template <typename T, typename WordOf>
void leave_out(std::span<T> scores, const Dims& excluded, std::int64_t top_k,
               const WordOf& word_of) {
  if (excluded.empty() && top_k == 0) return;
  std::int64_t left = top_k > 0 ? top_k : std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const bool out = left == 0 || std::binary_search(excluded.begin(), excluded.end(),
                                                     static_cast<std::int64_t>(word_of(i)));
    if (out)
      scores[i] = -std::numeric_limits<T>::infinity();
    else
      --left;
  }
}

/// The same for scores whose words are their indexes, all below scores.size().
template <typename T>
void leave_out(std::span<T> scores, const Dims& excluded) {
  for (const std::int64_t word : excluded)
    scores[static_cast<std::size_t>(word)] = -std::numeric_limits<T>::infinity();
}

/// Sets all probabilities outside of the nucleus to 0. `order` is scratch memory.
template <typename T>
void keep_nucleus(std::span<T> p, double top_p, std::vector<std::int32_t>& order) {
  // Words below this bound have a sum of less than 1 - top_p, so the nucleus has none of them.
  const auto bound = static_cast<T>((1 - top_p) / (2 * static_cast<double>(p.size())));
  order.clear();
  for (std::size_t i = 0; i < p.size(); ++i)
    if (p[i] >= bound && p[i] > 0) order.push_back(static_cast<std::int32_t>(i));
  const auto at = [p](std::int32_t i) { return p[static_cast<std::size_t>(i)]; };
  std::sort(order.begin(), order.end(), [&at](std::int32_t a, std::int32_t b) {
    return at(a) > at(b) || (at(a) == at(b) && a < b);
  });
  double sum = 0;
  std::size_t count = 0;
  while (count < order.size() && sum < top_p) sum += static_cast<double>(at(order[count++]));
  if (count == 0) return;
  const std::int32_t last = order[count - 1];
  const T least = at(last);
  for (std::size_t i = 0; i < p.size(); ++i)
    if (p[i] < least || (p[i] == least && static_cast<std::int32_t>(i) > last)) p[i] = 0;
}

/// Sets probabilities below `epsilon` to 0, but for the first of the largest ones.
template <typename T>
void keep_probable(std::span<T> p, double epsilon) {
  const auto best = static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
  for (std::size_t i = 0; i < p.size(); ++i)
    if (i != best && static_cast<double>(p[i]) < epsilon) p[i] = 0;
}

/// Probabilities whose sums are taken together.
inline constexpr std::size_t kDrawBlock = 256;

/// The sum of at most kDrawBlock numbers, in eight lanes.
template <typename T>
double block_sum(std::span<const T> p) {
  constexpr std::size_t kLanes = 8;
  double lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= p.size(); i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] += static_cast<double>(p[i + lane]);
  for (; i < p.size(); ++i) lanes[i % kLanes] += static_cast<double>(p[i]);
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

/// The first index whose cumulative sum exceeds `u` times the sum of p, 0 < u < 1, in proportion to
/// numbers that are not negative; -1 if their sum is not above 0.
template <typename T>
std::int64_t draw_by_sum(std::span<const T> p, double u) {
  const auto block = [p](std::size_t begin) {
    return p.subspan(begin, std::min(kDrawBlock, p.size() - begin));
  };
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); i += kDrawBlock) sum += block_sum(block(i));
  if (!(sum > 0)) return -1;
  const double target = u * sum;
  double before = 0;
  for (std::size_t begin = 0; begin < p.size(); begin += kDrawBlock) {
    const double after = before + block_sum(block(begin));
    if (after > target) {
      std::int64_t last = -1;  // in case the sums of a block round otherwise
      for (std::size_t i = 0; i < block(begin).size() && !(before > target); ++i) {
        const auto number = static_cast<double>(p[begin + i]);
        before += number;
        if (number > 0) last = static_cast<std::int64_t>(begin + i);
      }
      return last;
    }
    before = after;
  }
  return -1;
}

/// The index drawn from the probabilities p, which are overwritten; -1: none. `order` is scratch
/// memory.
template <typename T>
std::int64_t draw(std::span<T> p, const op::Draw& rule, double u,
                  std::vector<std::int32_t>& order) {
  if (rule.top_p < 1) keep_nucleus(p, rule.top_p, order);
  if (rule.epsilon > 0) keep_probable(p, rule.epsilon);
  return draw_by_sum(std::span<const T>(p), u);
}

}  // namespace fuselage
