#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "text/lexical_table.h"
#include "text/shortlist.h"
#include "text/word_vocabulary.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto vocabulary =
      fuselage::parse_word_vocabulary("</s>\n<unk>\na\nb\nc\n", "txt", "words.txt", {});
  const fuselage::LexicalSides sides{*vocabulary, *vocabulary};
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    // Damage behind the checksum is what there is to find.
    fuselage::LexicalTable table =
        fuselage::is_lexical_binary(bytes)
            ? fuselage::parse_lexical_binary(bytes, "fuzz.bin", sides, false)
            : fuselage::parse_lexical_text(bytes, "fuzz.s2t", sides, {.first = 1, .best = 2});
    const fuselage::Shortlist list(std::move(table), 5, 0, true);
    const fuselage::WordId words[] = {0, 1, 2, 3, 4, 5};
    list.words_for(words);
  } catch (const fuselage::Error&) {
  }
  return 0;
}
