#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuselage/base/error.h"
#include "fuzz/check_message.h"
#include "fuzz/use_vocabulary.h"
#include "text/words/word_vocabulary.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const std::string_view extension : {"yml", "json", "txt"}) {
    for (const std::int64_t limit : {0, 3}) {
      try {
        fuselage::use_vocabulary(
            *fuselage::parse_word_vocabulary(bytes, extension, "fuzz", {.limit = limit}), bytes);
      } catch (const fuselage::Error& error) {
        fuselage::check_message(error);
      }
    }
  }
  return 0;
}
