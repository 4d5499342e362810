#pragma once

#include <cstddef>

#include "decoding/queue/fitted_line.h"
#include "fuselage/decoding/translation_queue.h"

namespace fuselage {

/// When a thread of a queue encodes the sentences that wait and gives them its free places.
class RefillPolicy {
 public:
  RefillPolicy(Refill refill, std::size_t places) : refill_(refill), places_(places) {}

  /// Whether `free` places are given away now, while others are taken.
  bool is_due(std::size_t free) const;

  /// A step took `seconds`, and `free` places had no part in it.
  void stepped(std::size_t free, double seconds);
  /// Sentences of `words` together, of which the longest has `longest`, were encoded in `seconds`.
  void encoded(std::size_t words, std::size_t longest, double seconds);

 private:
  /// Seconds of encoding some sentences that do not depend on their number.
  double fixed_encoding() const { return encoding_.intercept().value_or(0) * longest_; }

  Refill refill_;
  std::size_t places_;
  /// Seconds of the steps since encoded() that others would have shared: of the part of a step that
  /// does not depend on sentences, the shares of the free places.
  double lost_ = 0;
  FittedLine step_;      ///< seconds by sentences
  FittedLine encoding_;  ///< seconds for a word of the longest sentence, by sentences of its length
  double longest_ = 0;   ///< words of a batch's longest sentence, a geometric mean of the last
};

}  // namespace fuselage
