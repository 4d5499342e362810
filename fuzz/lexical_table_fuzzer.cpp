#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "fuselage/base/error.h"
#include "fuzz/check_message.h"
#include "text/shortlist/lexical_table.h"
#include "text/shortlist/shortlist.h"
#include "text/words/word_vocabulary.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto vocabulary =
      fuselage::parse_word_vocabulary("</s>\n<unk>\na\nb\nc\n", "txt", "words.txt", {});
  const fuselage::LexicalSides sides{*vocabulary, *vocabulary};
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const bool checksum : {false, true}) {
    try {
      // Without the checksum, so that damaged content reaches the reader.
      fuselage::LexicalTable table =
          fuselage::is_lexical_binary(bytes)
              ? fuselage::parse_lexical_binary(bytes, "fuzz.bin", sides, checksum)
              : fuselage::parse_lexical_text(bytes, "fuzz.s2t", sides, {.first = 1, .best = 2});
      const fuselage::Shortlist list(std::move(table), 5, 0, checksum);
      const fuselage::WordId words[] = {-1, 0, 1, 2, 3, 4, 5, 1000};
      for (const fuselage::WordId word : list.words_for(words))
        fuselage::check(word >= 0 && word < 5, "a word is out of range");
    } catch (const fuselage::Error& error) {
      fuselage::check_message(error);
    }
  }
  return 0;
}
