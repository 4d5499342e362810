#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/base/error.h"
#include "fuzz/texts.h"
#include "text/vocabulary.h"

namespace fuselage {

/// Encodes and decodes texts of many scripts, words of the vocabulary and the last bytes of its
/// input, and checks the ids of the encoded lines and the texts of their words.
inline void use_vocabulary(const Vocabulary& vocabulary, std::string_view input) {
  constexpr std::size_t kTextBytes = 64;
  constexpr WordId kWords = 64;
  const auto encode = [&](std::string_view text) {
    const std::vector<WordId> ids = vocabulary.encode(text);
    check(!ids.empty() && ids.back() == vocabulary.end_id(), "a line does not end");
    for (const WordId id : ids) check(id >= 0 && id < vocabulary.size(), "an id is out of range");
    vocabulary.decode(ids);
    std::vector<std::string> texts = vocabulary.texts(text);
    check(texts.size() + 1 == ids.size(), "not every word has a text");
    texts.emplace_back("</s>");
    vocabulary.decode(ids, texts);
  };
  for (const std::string_view text : kFuzzTexts) encode(text);
  encode(input.substr(input.size() - std::min(input.size(), kTextBytes)));
  std::string words;
  std::vector<WordId> ids = {-1, vocabulary.size()};
  for (WordId id = 0; id < std::min(vocabulary.size(), kWords); ++id) {
    ids.push_back(id);
    words += vocabulary.word(id);
    if (id % 4 == 3) words += ' ';
  }
  encode(words);
  vocabulary.decode(ids);
}

}  // namespace fuselage
