#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "text/pages/page.h"

namespace {

using fuselage::Page;
using fuselage::TranslatedSentence;

void expect(bool holds) {
  if (!holds) __builtin_trap();
}

std::size_t count_bytes(std::string_view text) { return text.size(); }

/// The sentences themselves give the page itself.
void expect_same(const Page& page, std::string_view document) {
  std::vector<TranslatedSentence> translations;
  for (const std::string& sentence : page.sentences()) translations.push_back({sentence});
  expect(page.joined(translations) == document);
}

/// Translations with an alignment from the bytes of the sentences.
void translate(const Page& page) {
  std::vector<TranslatedSentence> translations;
  for (const std::string& sentence : page.sentences()) {
    TranslatedSentence translation{.text = sentence + " é"};
    const std::size_t middle = sentence.size() / 2;
    translation.alignment.source = {{0, middle}, {middle, sentence.size()}};
    translation.alignment.target = {{0, middle}, {middle, translation.text.size()}};
    const float weight = static_cast<float>(static_cast<unsigned char>(sentence[0])) / 255;
    translation.alignment.weights = {{weight, 1 - weight}, {1 - weight, weight}};
    if (sentence.size() % 3 == 0) translation.alignment = {};
    translations.push_back(std::move(translation));
  }
  const std::string joined = page.joined(translations);
  expect(joined.size() >= translations.size());
}

}  // namespace

// Documents of HTML and plain texts.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string document(reinterpret_cast<const char*>(data), size);
  static const fuselage::SentenceSplitter splitter("de");
  constexpr std::size_t kMaxBytes = 24;
  for (const std::size_t max_tokens : {std::size_t{0}, kMaxBytes}) {
    const fuselage::PageReading reading{splitter, max_tokens, count_bytes};
    for (const auto& page : {fuselage::read_html_page(document, reading),
                             fuselage::read_plain_page(document, reading)}) {
      expect_same(*page, document);
      translate(*page);
    }
  }
  return 0;
}
