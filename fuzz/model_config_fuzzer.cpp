#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "fuselage/base/error.h"
#include "fuzz/check_message.h"
#include "models/directory/model_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool ignore_unknown : {false, true}) {
    try {
      // A parsed configuration must parse again after it is printed.
      const auto config = fuselage::parse_model_config(text, "config.json", ignore_unknown);
      fuselage::parse_model_config(fuselage::print_model_config(config), "again", false);
    } catch (const fuselage::Error& error) {
      if (std::string_view(error.what()).starts_with("again")) throw std::logic_error(error.what());
      fuselage::check_message(error);
    }
  }
  return 0;
}
