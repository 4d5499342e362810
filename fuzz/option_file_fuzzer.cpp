#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "tools/model_options.h"
#include "tools/options.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const bool ignore_unknown : {false, true}) {
    fuselage::Options options("translate", "");
    fuselage::ModelOptions model;
    float word_penalty = 0;
    model.add_model_to(options);
    model.add_scoring_to(options.app(), word_penalty);
    model.add_running_to(options);
    try {
      options.apply_config_text(text, "decoder.yml", ignore_unknown);
    } catch (const fuselage::Error&) {
    }
  }
  return 0;
}
