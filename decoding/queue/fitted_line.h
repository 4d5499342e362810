#pragma once

#include <optional>

namespace fuselage {

/// The line of least squares through points, of which later ones count more.
class FittedLine {
 public:
  void add(double x, double y) {
    constexpr double kFading = 0.95;
    count_ = kFading * count_ + 1;
    x_ = kFading * x_ + x;
    y_ = kFading * y_ + y;
    xx_ = kFading * xx_ + x * x;
    xy_ = kFading * xy_ + x * y;
  }

  /// y at x = 0; none if the points have one x.
  std::optional<double> intercept() const {
    const double spread = count_ * xx_ - x_ * x_;
    if (spread <= 1e-9 * xx_) return std::nullopt;
    const double slope = (count_ * xy_ - x_ * y_) / spread;
    return (y_ - slope * x_) / count_;
  }

 private:
  double count_ = 0, x_ = 0, y_ = 0, xx_ = 0, xy_ = 0;
};

}  // namespace fuselage
