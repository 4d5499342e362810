#pragma once

#include <string>
#include <string_view>

namespace fuselage {

/// A number with a unit in three significant digits: "9.22 kB", "0 B", "634 MFLOP", "12".
std::string print_scaled(double number, std::string_view unit);

}  // namespace fuselage
