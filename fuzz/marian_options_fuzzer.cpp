#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuselage/base/error.h"
#include "fuzz/check_message.h"
#include "models/architectures/marian_options.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const bool ignore_unknown : {false, true}) {
    try {
      fuselage::parse_marian_options(std::string(bytes), "fuzz.npz", ignore_unknown);
    } catch (const fuselage::Error& error) {
      fuselage::check_message(error);
    }
  }
  return 0;
}
