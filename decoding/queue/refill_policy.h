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
  /// `sentences` were encoded together in `seconds`.
  void encoded(std::size_t sentences, double seconds);

 private:
  Refill refill_;
  std::size_t places_;
  /// Seconds of the steps since encoded() that others would have shared: of the part of a step that
  /// does not depend on sentences, the shares of the free places.
  double lost_ = 0;
  FittedLine step_, encoding_;  ///< seconds by sentences
};

}  // namespace fuselage
