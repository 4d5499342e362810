#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "text/word_vocabulary.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const std::string_view extension : {"yml", "json", "txt"}) {
    try {
      const auto vocabulary = fuselage::parse_word_vocabulary(bytes, extension, "fuzz");
      vocabulary->decode(vocabulary->encode(bytes));
      vocabulary->word(vocabulary->size());
    } catch (const fuselage::Error&) {
    }
  }
  return 0;
}
