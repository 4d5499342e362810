#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "text/sentencepiece_vocabulary.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const auto vocabulary = fuselage::parse_sentencepiece_vocabulary(bytes, "fuzz.spm");
    vocabulary->decode(vocabulary->encode("A short text, with \xc3\xa4 and \xff."));
  } catch (const fuselage::Error&) {
  }
  return 0;
}
