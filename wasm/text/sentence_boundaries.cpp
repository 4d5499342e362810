// The rules of Unicode for sentences are those of the browser's own library, by Intl.Segmenter.
#include "text/pages/sentence_boundaries.h"

#include <emscripten.h>

#include <array>
#include <cstdint>
#include <vector>

#include "text/utf8.h"

namespace fuselage {
namespace {

constexpr std::size_t kLongestCode = 16;

// Writes the places of boundaries, in bytes, and returns their number. There is room for one at
// each byte.
EM_JS(int, find_sentence_boundaries,
      (const char* language, const char* text, int size, std::uint32_t* places), {
        const rules = new Intl.Segmenter(UTF8ToString(language), {granularity : 'sentence'});
        const encoder = new TextEncoder();
        let place = 0, count = 0;
        for (const {segment} of rules.segment(UTF8ToString(text, size))) {
          place += encoder.encode(segment).length;
          if (place < size) HEAPU32[places / 4 + count++] = place;
        }
        return count;
      });

// Writes the code of a language in its short form, or nothing for what is no code.
EM_JS(void, write_short_code, (const char* language, char* code, int size), {
  let found = "";
  try {
    found = new Intl.Locale(UTF8ToString(language)).language;
  } catch (error) {
  }
  stringToUTF8(found, code, size);
});

/// A text of the same size in which other characters take the place of bytes that are no UTF-8, and
/// of zeros.
std::string as_characters(std::string_view text) {
  std::string result(text);
  for (std::size_t at = 0; at < result.size();) {
    const std::size_t length = utf8_sequence_length(std::string_view(result).substr(at));
    if (length == 0) result[at] = '?';
    at += length == 0 ? 1 : length;
  }
  return result;
}

}  // namespace

std::string base_language(std::string_view language) {
  const std::string code(language.substr(0, language.find_first_of("_-")));
  if (!is_valid_utf8(code)) return {};
  std::array<char, kLongestCode> found{};
  write_short_code(code.c_str(), found.data(), static_cast<int>(found.size()));
  return found.data();
}

class SentenceBoundaries::Impl {
 public:
  // Greek alone has rules of its own.
  explicit Impl(const std::string& language) : rules_(language == "el" ? "el" : "und") {}

  void for_each(std::string_view text, const std::function<void(std::size_t)>& action) const {
    const std::string characters = as_characters(text);
    std::vector<std::uint32_t> places(characters.size());
    const int count = find_sentence_boundaries(rules_, characters.c_str(),
                                               static_cast<int>(characters.size()), places.data());
    for (int i = 0; i < count; ++i) action(places[static_cast<std::size_t>(i)]);
  }

 private:
  const char* rules_;
};

SentenceBoundaries::SentenceBoundaries(const std::string& language)
    : impl_(std::make_unique<const Impl>(language)) {}

SentenceBoundaries::~SentenceBoundaries() = default;

void SentenceBoundaries::for_each(std::string_view text,
                                  const std::function<void(std::size_t)>& action) const {
  impl_->for_each(text, action);
}

}  // namespace fuselage
