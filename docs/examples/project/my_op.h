#pragma once

#include "fuselage/ops/row_function.h"

namespace my {

/// scale × x / (1 + |x|), element by element.
struct Squash {
  static constexpr std::string_view kName = "my_squash";
  double scale = 1;
  static constexpr auto attributes() {
    return std::tuple(fuselage::defaulted("scale", &Squash::scale));
  }
};

/// Registers the op. Call it once.
void register_squash();

}  // namespace my
