#include "decoding/queue/refill_policy.h"

#include <algorithm>
#include <cmath>

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
      return free > 0 && (is_half_empty || lost_ >= fixed_encoding());
  }
  return true;
}

void RefillPolicy::stepped(std::size_t free, double seconds) {
  step_.add(static_cast<double>(places_ - free), seconds);
  const double fixed = std::clamp(step_.intercept().value_or(seconds), 0.0, seconds);
  lost_ += fixed * static_cast<double>(free) / static_cast<double>(places_);
}

/// A recurrent encoder's fixed cost is one for each word of the longest sentence. That of other
/// encoders is not, but is as much for the usual length.
void RefillPolicy::encoded(std::size_t words, std::size_t longest, double seconds) {
  const auto length = static_cast<double>(std::max<std::size_t>(longest, 1));
  encoding_.add(static_cast<double>(words) / length, seconds / length);
  longest_ = longest_ == 0 ? length : longest_ * std::pow(length / longest_, 0.05);
  lost_ = 0;
}

}  // namespace fuselage
