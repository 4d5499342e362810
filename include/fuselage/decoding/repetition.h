#pragma once

#include <cstdint>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// The largest Repetition::no_repeat_ngram_size.
inline constexpr std::int32_t kMaxNgram = 1000;

/// Measures against repetitions in a translation.
struct Repetition {
  /// What the log-probability of a word is multiplied by that the hypothesis has already; above 0,
  /// 1: none. See Keskar et al. 2019, "CTRL", section 4.1.
  float penalty = 1;
  /// No n-gram of so many words occurs twice in a hypothesis; at most kMaxNgram, 0: all may.
  std::int32_t no_repeat_ngram_size = 0;

  bool is_off() const { return penalty == 1 && no_repeat_ngram_size == 0; }
};

/// Throws Error for numbers out of range.
void verify(const Repetition& repetition);

}  // namespace fuselage
