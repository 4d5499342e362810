#pragma once

#include <cmath>

namespace fuselage {

/// 1 / (1 + exp(-x)) without overflow.
template <typename T>
T sigmoid(T x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

}  // namespace fuselage
