#pragma once

#include <string_view>

namespace fuselage {

/// The value of a number in JSON as the library `tokenizers` reads it: its digits as a whole
/// number, times or divided by a power of ten, which rounds twice. By such last bits the library
/// decides between two ways to split a text whose scores are nearly equal. Digits that do not fit
/// 64 bits are left out. `exact` is the nearest value, which is the result for a number with a
/// large exponent.
double twice_rounded(std::string_view number, double exact);

}  // namespace fuselage
