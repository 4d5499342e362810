#include "base/numbers/from_chars.h"

namespace fuselage {

std::from_chars_result real_from_chars(const char* first, const char* last, float& value) {
  return std::from_chars(first, last, value);
}

std::from_chars_result real_from_chars(const char* first, const char* last, double& value) {
  return std::from_chars(first, last, value);
}

}  // namespace fuselage
