#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuselage/base/error.h"
#include "fuzz/check_message.h"
#include "text/words/frequency_list.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    fuselage::parse_frequency_list(bytes, "fuzz.txt");
  } catch (const fuselage::Error& error) {
    fuselage::check_message(error);
  }
  return 0;
}
