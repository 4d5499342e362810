#pragma once

#include <charconv>
#include <type_traits>

namespace fuselage {

/// std::from_chars for float and double, which not every standard library has.
std::from_chars_result real_from_chars(const char* first, const char* last, float& value);
std::from_chars_result real_from_chars(const char* first, const char* last, double& value);

/// std::from_chars for all numbers.
template <typename T>
std::from_chars_result from_chars(const char* first, const char* last, T& value) {
  if constexpr (std::is_floating_point_v<T>)
    return real_from_chars(first, last, value);
  else
    return std::from_chars(first, last, value);
}

}  // namespace fuselage
