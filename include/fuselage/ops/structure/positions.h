#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

#include "fuselage/base/api.h"
#include "fuselage/graph/attributes.h"

namespace FUSELAGE_API fuselage {

namespace op {

/// Position of each row in its sentence, from 0.
struct Position {
  static constexpr std::string_view kName = "position";
  DomainId domain;
  static constexpr auto attributes() { return std::tuple(required("domain", &Position::domain)); }
};

/// The sinusoidal encoding of a position (Vaswani et al. 2017, section 3.5), all sines first.
struct Sinusoid {
  static constexpr std::string_view kName = "sinusoid";
  std::int64_t dim = 0;
  static constexpr auto attributes() { return std::tuple(required("dim", &Sinusoid::dim)); }
};

/// Rotary positions: for the halves a and b of each head of x, a cos - b sin and b cos + a sin. See
/// Su et al. 2021, equation 34, with the halves of a head as the two coordinates. Operands x,
/// f32[heads × 2n], and cos and sin, f32[n], which all heads share.
struct Rotary {
  static constexpr std::string_view kName = "rotary";
  std::int64_t heads = 1;
  static constexpr auto attributes() { return std::tuple(defaulted("heads", &Rotary::heads)); }
};

}  // namespace op

/// Positions of tokens in their sentences, their sinusoidal encoding, and rotary positions.
std::span<const OpDef> position_ops();

}  // namespace fuselage
