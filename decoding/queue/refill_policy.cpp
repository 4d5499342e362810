#include "decoding/queue/refill_policy.h"

#include <algorithm>
#include <utility>

namespace fuselage {

bool RefillPolicy::is_due(std::size_t free) const {
  switch (refill_) {
    case Refill::at_once:
      return free > 0;
    case Refill::half_empty:
      return 2 * free >= places_;
    case Refill::by_cost:
      return free > 0 && lost_ >= fixed_cost();
  }
  return true;
}

void RefillPolicy::stepped(std::size_t free, double seconds) {
  lost_ += seconds * static_cast<double>(free) / static_cast<double>(places_);
}

void RefillPolicy::encoded(std::size_t sentences, double seconds) {
  constexpr double kFading = 0.95;
  const auto number = static_cast<double>(sentences);
  for (auto [sum, value] : {std::pair(&count_, 1.0), std::pair(&sentences_, number),
                            std::pair(&squares_, number * number), std::pair(&seconds_, seconds),
                            std::pair(&products_, number * seconds)})
    *sum = kFading * *sum + value;
  lost_ = 0;
}

/// The intercept of the line of least squares through the numbers of sentences and seconds.
double RefillPolicy::fixed_cost() const {
  const double spread = count_ * squares_ - sentences_ * sentences_;
  // Batches of one size do not tell.
  if (spread <= 1e-9 * squares_) return 0;
  const double slope = (count_ * products_ - sentences_ * seconds_) / spread;
  return std::max((seconds_ - slope * sentences_) / count_, 0.0);
}

}  // namespace fuselage
