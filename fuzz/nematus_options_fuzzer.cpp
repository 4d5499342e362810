// The .json beside a model of Nematus.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuselage/base/error.h"
#include "fuzz/check_message.h"
#include "models/marian/nematus_options.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuselage;
  try {
    const NematusOptions options = parse_nematus_options(
        std::string_view(reinterpret_cast<const char*>(data), size), "fuzz.json");
    check(options.dropout_hidden >= 0 && options.dropout_hidden < 1, "no probability");
  } catch (const Error& error) {
    check_message(error);
  }
  return 0;
}
