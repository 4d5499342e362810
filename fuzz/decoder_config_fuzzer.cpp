// Reads the configuration of a decoder, as it comes with a model.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuselage/base/error.h"
#include "fuzz/check_message.h"
#include "models/marian/decoder_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuselage;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool ignore_unknown : {false, true}) {
    try {
      const DecoderConfig config = parse_decoder_config(text, "fuzz/config.yml", ignore_unknown);
      check(config.weights.size() == config.models.size(), "not a weight for each model");
    } catch (const Error& error) {
      check_message(error);
    }
  }
  return 0;
}
