#include "decoding/random_lines.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>

#include "decoding/lines/line_encoder.h"
#include "fuselage/base/error.h"
#include "text/utf8.h"

namespace fuselage {
namespace {

constexpr std::size_t kShortest = 5, kLongest = 20;

/// Whether a word is text, and no symbol such as <unk>, [MASK] or >>deu<<.
bool is_text(std::string_view word) {
  constexpr std::string_view kBrackets = "<>[]";
  if (word.empty() || !is_valid_utf8(word)) return false;
  if (word.size() > 1 && kBrackets.find(word.front()) != std::string_view::npos) return false;
  return std::ranges::none_of(word, [](char c) { return static_cast<unsigned char>(c) <= ' '; });
}

std::vector<WordId> words_of_text(const Vocabulary& vocabulary) {
  std::vector<WordId> words;
  for (WordId id = 0; id < vocabulary.size(); ++id)
    if (id != vocabulary.end_id() && id != vocabulary.unknown_id() &&
        is_text(vocabulary.word(id)) && !std::ranges::binary_search(vocabulary.control_ids(), id))
      words.push_back(id);
  if (words.empty())
    throw Error("the vocabulary has no words but symbols, so there are no random lines of it");
  return words;
}

/// Distributions of the standard library differ between implementations.
std::size_t below(std::size_t bound, std::mt19937& random) {
  return static_cast<std::size_t>((static_cast<std::uint64_t>(random()) * bound) >> 32);
}

}  // namespace

std::vector<std::string> random_lines(const VocabularyPair& vocabularies, std::size_t count) {
  std::vector<const Vocabulary*> fields{vocabularies.source ? vocabularies.source.get()
                                                            : vocabularies.target.get()};
  for (const auto& further : vocabularies.further_sources) fields.push_back(further.get());
  std::vector<std::vector<WordId>> words;
  for (const Vocabulary* field : fields) words.push_back(words_of_text(*field));
  std::mt19937 random(1);
  std::vector<std::string> lines;
  while (lines.size() < count) {
    // All fields have the same number of words, as a text and its factors need.
    const std::size_t length = kShortest + below(kLongest - kShortest + 1, random);
    std::string line;
    for (std::size_t f = 0; f < fields.size(); ++f) {
      std::vector<WordId> ids;
      while (ids.size() < length)
        ids.push_back(words[f][below(1 + below(words[f].size(), random), random)]);
      if (f > 0) line += '\t';
      line += one_line(fields[f]->decode(ids));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace fuselage
