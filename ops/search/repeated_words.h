#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace fuselage {

/// Calls f(w) for the words w that would repeat an n-gram of the text word(0) … word(count - 1) if
/// they followed it; negative numbers are no words.
template <typename Word, typename F>
void for_each_repeat(const Word& word, std::int64_t count, std::int64_t n, const F& f) {
  const std::int64_t last = count - (n - 1);  // where the last n - 1 words begin
  if (n <= 0 || last < 0) return;
  for (std::int64_t i = last; i < count; ++i)
    if (word(i) < 0) return;
  for (std::int64_t at = 0; at < last; ++at) {
    std::int64_t equal = 0;
    while (equal < n - 1 && word(at + equal) == word(last + equal)) ++equal;
    if (const std::int64_t next = word(at + equal); equal == n - 1 && next >= 0) f(next);
  }
}

/// Calls f(w) for the last words w of sequences, each with -1 behind it, whose other words are the
/// last ones of the text.
template <typename Word, typename F>
void for_each_completed(const Word& word, std::int64_t count,
                        std::span<const std::int64_t> sequences, const F& f) {
  for (auto begin = sequences.begin(); begin != sequences.end();) {
    const auto end = std::find(begin, sequences.end(), -1);
    const std::int64_t before = end - begin - 1;
    std::int64_t equal = 0;
    while (equal < before && before <= count && word(count - before + equal) == begin[equal])
      ++equal;
    if (equal == before) f(begin[before]);
    begin = end + 1;
  }
}

/// A score of a word that the text has already.
template <typename T>
T penalized(T score, T penalty) {
  return score < 0 ? score * penalty : score / penalty;
}

}  // namespace fuselage
