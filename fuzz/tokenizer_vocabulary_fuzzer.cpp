#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuselage/base/error.h"
#include "fuzz/check_message.h"
#include "fuzz/use_vocabulary.h"
#include "text/tokenizers/vocabulary.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  fuselage::is_tokenizer_file(bytes);
  for (const std::int64_t limit : {0, 300}) {
    try {
      fuselage::use_vocabulary(
          *fuselage::parse_tokenizer_vocabulary(bytes, "fuzz", {.limit = limit}), bytes);
    } catch (const fuselage::Error& error) {
      fuselage::check_message(error);
    }
  }
  return 0;
}
