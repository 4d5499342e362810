#include "decoding/queue/refill_policy.h"

#include <algorithm>

namespace fuselage {

/// Encoding has a fixed cost too. As in the economic order quantity (Harris 1913), the sum of both
/// is least where what was lost by waiting is as much as that cost.
bool RefillPolicy::is_due(std::size_t free) const {
  const bool is_half_empty = 2 * free >= places_;
  switch (refill_) {
    case Refill::at_once:
      return free > 0;
    case Refill::half_empty:
      return is_half_empty;
    case Refill::by_cost:
      return free > 0 && (is_half_empty || lost_ >= encoding_.intercept().value_or(0));
  }
  return true;
}

void RefillPolicy::stepped(std::size_t free, double seconds) {
  step_.add(static_cast<double>(places_ - free), seconds);
  const double fixed = std::clamp(step_.intercept().value_or(seconds), 0.0, seconds);
  lost_ += fixed * static_cast<double>(free) / static_cast<double>(places_);
}

void RefillPolicy::encoded(std::size_t sentences, double seconds) {
  encoding_.add(static_cast<double>(sentences), seconds);
  lost_ = 0;
}

}  // namespace fuselage
