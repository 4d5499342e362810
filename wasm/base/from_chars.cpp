// LLVM's standard library has no std::from_chars for float and double before version 20.
// Emscripten's strtod rounds correctly, and its locales all have a decimal point.
#include "base/numbers/from_chars.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <system_error>

namespace fuselage {
namespace {

/// Whether strtod reads as from_chars does: it also takes blanks, a plus sign and hexadecimal
/// digits.
bool begins_number(const char* first, const char* last) {
  if (first != last && *first == '-') ++first;
  if (first == last) return false;
  return (*first >= '0' && *first <= '9') || *first == '.' || *first == 'i' || *first == 'I' ||
         *first == 'n' || *first == 'N';
}

/// The end of the characters that may belong to a decimal number, "inf" or "nan".
const char* end_of_number(const char* first, const char* last) {
  return std::find_if(first, last, [](char c) {
    return !((c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E' ||
             c == 'i' || c == 'I' || c == 'n' || c == 'N' || c == 'f' || c == 'F' || c == 'a' ||
             c == 'A' || c == 't' || c == 'T' || c == 'y' || c == 'Y');
  });
}

template <typename T, typename Read>
std::from_chars_result read_real(const char* first, const char* last, T& value, const Read& read) {
  if (!begins_number(first, last)) return {first, std::errc::invalid_argument};
  const std::string text(first, end_of_number(first, last));
  char* stop = nullptr;
  const T found = read(text.c_str(), &stop);
  if (stop == text.c_str()) return {first, std::errc::invalid_argument};
  const char* const end = first + (stop - text.c_str());
  const bool stated = text.find_first_of("iInN") < static_cast<std::size_t>(stop - text.c_str());
  const bool is_zero = std::all_of(text.c_str(), static_cast<const char*>(stop),
                                   [](char c) { return !(c >= '1' && c <= '9'); });
  if ((std::isinf(found) && !stated) || (found == 0 && !is_zero))
    return {end, std::errc::result_out_of_range};
  value = found;
  return {end, std::errc()};
}

}  // namespace

std::from_chars_result real_from_chars(const char* first, const char* last, float& value) {
  return read_real(first, last, value, std::strtof);
}

std::from_chars_result real_from_chars(const char* first, const char* last, double& value) {
  return read_real(first, last, value, std::strtod);
}

}  // namespace fuselage
