#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuselage/base/error.h"
#include "fuzz/check_message.h"
#include "text/terms/translation_dictionary.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const fuselage::TranslationDictionary words(bytes, "fuzz.tsv");
    if (words.translate("a").empty()) __builtin_trap();
  } catch (const fuselage::Error& error) {
    fuselage::check_message(error);
  }
  return 0;
}
