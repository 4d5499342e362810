#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "fuselage/ops/search/sampling.h"

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

/// Classes of probabilities, 16 for each power of two; a larger number is never in a lower class.
inline constexpr std::size_t kProbabilityClasses = (std::bit_cast<std::uint32_t>(1.0f) >> 19) + 1;

template <typename T>
std::size_t probability_class(T p) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(static_cast<float>(p));
  return std::min<std::size_t>(bits >> 19, kProbabilityClasses - 1);
}

/// Sets all probabilities outside of the nucleus to 0. Only those of the class where it ends are
/// sorted: with label smoothing, a whole vocabulary has probabilities that count. `order` is
/// scratch memory.
template <typename T>
void keep_nucleus(std::span<T> p, double top_p, std::vector<std::int32_t>& order) {
  std::array<double, kProbabilityClasses> sums{};
  for (const T x : p) sums[probability_class(x)] += static_cast<double>(x);
  std::size_t edge = kProbabilityClasses;
  double sum = 0;
  while (edge > 0 && !(sum + sums[edge - 1] >= top_p)) sum += sums[--edge];
  if (edge == 0) return;  // by rounding all are in it, or they are no numbers
  --edge;
  order.clear();
  for (std::size_t i = 0; i < p.size(); ++i)
    if (probability_class(p[i]) == edge) order.push_back(static_cast<std::int32_t>(i));
  const auto at = [p](std::int32_t i) { return p[static_cast<std::size_t>(i)]; };
  std::sort(order.begin(), order.end(), [&at](std::int32_t a, std::int32_t b) {
    return at(a) > at(b) || (at(a) == at(b) && a < b);
  });
  std::int32_t last = order.front();
  for (std::size_t i = 0; i < order.size() && sum < top_p; ++i) {
    last = order[i];
    sum += static_cast<double>(at(last));
  }
  const T least = at(last);
  for (T& x : p) x = x < least ? T{0} : x;
  for (T& x : p.subspan(static_cast<std::size_t>(last) + 1)) x = x == least ? T{0} : x;
}

/// Sets probabilities below `epsilon` to 0, but for the first of the largest ones.
template <typename T>
void keep_probable(std::span<T> p, double epsilon) {
  if (p.empty()) return;
  const auto least = static_cast<T>(epsilon);
  if (std::none_of(p.begin(), p.end(), [least](T x) { return x >= least; })) {
    T& largest = *std::max_element(p.begin(), p.end());
    const T kept = largest;
    std::fill(p.begin(), p.end(), T{0});
    largest = kept;
    return;
  }
  for (T& x : p) x = x < least ? T{0} : x;
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
