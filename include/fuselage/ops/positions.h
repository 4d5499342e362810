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

}  // namespace op

/// Positions of tokens in their sentences, and their sinusoidal encoding.
std::span<const OpDef> position_ops();

}  // namespace fuselage
