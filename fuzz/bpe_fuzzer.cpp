// BPE codes: splits and joins texts, and words of their own symbols.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuselage/base/error.h"
#include "fuzz/check_message.h"
#include "fuzz/texts.h"
#include "text/bpe/bpe.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuselage;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const auto bpe = parse_bpe(bytes, "fuzz.bpe", {"[0-9]+"});
    std::string own(bytes);
    std::erase_if(own, [](char c) { return c == ' ' || c == '\n' || c == '@'; });
    check(bpe->join(bpe->split(own)) == own, "a word is another when it is split and joined");
    for (const std::string_view text : kFuzzTexts) bpe->join(bpe->split(text));
  } catch (const Error& error) {
    check_message(error);
  }
  return 0;
}
