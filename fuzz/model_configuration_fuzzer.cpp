#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>

#include "fuselage/base/error.h"
#include "fuzz/check_message.h"
#include "models/directory/model_configuration.h"

namespace {

/// The text with at most two digits of each number, so that models stay small.
std::string with_small_numbers(const std::uint8_t* data, std::size_t size) {
  std::string text;
  std::size_t digits = 0;
  for (std::size_t i = 0; i < size; ++i) {
    digits = std::isdigit(data[i]) != 0 ? digits + 1 : 0;
    if (digits <= 2) text += static_cast<char>(data[i]);
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = with_small_numbers(data, size);
  if (!fuselage::is_model_configuration(text)) return 0;
  try {
    fuselage::parse_model_configuration(text, "fuzz.yml", {.random_weights = 1});
  } catch (const fuselage::Error& error) {
    fuselage::check_message(error);
  }
  return 0;
}
