#pragma once

#include <cstddef>

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
  /// `sentences` were encoded together in `seconds`.
  void encoded(std::size_t sentences, double seconds);

 private:
  /// Seconds of encoding that do not depend on the number of sentences.
  double fixed_cost() const;

  Refill refill_;
  std::size_t places_;
  double lost_ = 0;  ///< seconds of steps, in parts for the places that had none, since encoded()
  /// Sums over the past, which fade: of 1, sentences, their squares, seconds, and both multiplied.
  double count_ = 0, sentences_ = 0, squares_ = 0, seconds_ = 0, products_ = 0;
};

}  // namespace fuselage
