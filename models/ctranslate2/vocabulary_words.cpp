#include "models/ctranslate2/vocabulary_words.h"

#include <fmt/format.h>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "models/formats/json.h"

namespace fuselage {
namespace {

/// The bounds of vocabularies (docs/limits.md).
constexpr JsonLimits kVocabularyLimits = {
    .bytes = std::size_t{64} << 20, .depth = 1, .values = 10'000'001};

}  // namespace

std::vector<std::string> read_vocabulary_words(const std::string& path) {
  const std::string text = read_file(path, kVocabularyLimits.bytes);
  std::vector<std::string> words;
  if (file_extension(path) == "json") {
    const nlohmann::json list = load_json(text, path, kVocabularyLimits);
    if (!list.is_array()) throw Error(fmt::format("{}: a list of words is needed", path));
    for (const nlohmann::json& word : list) {
      if (!word.is_string())
        throw Error(fmt::format("{}: entry {} of the list is no text", path, words.size()));
      words.push_back(word.get<std::string>());
    }
    return words;
  }
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    if (words.back().ends_with('\r')) words.back().pop_back();
    begin = end + 1;
  }
  return words;
}

}  // namespace fuselage
