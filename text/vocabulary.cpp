#include "text/vocabulary.h"

#include <fmt/format.h>

#include <utility>

#include "base/files/compression.h"
#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "text/sentencepiece/vocabulary.h"
#include "text/tokenizers/vocabulary.h"
#include "text/words/word_vocabulary.h"

namespace fuselage {

std::string joined_words(const Vocabulary& vocabulary, std::span<const WordId> ids,
                         std::span<const std::string> texts) {
  std::string text;
  bool first = true;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == vocabulary.end_id() || vocabulary.is_added(ids[i])) continue;
    if (!std::exchange(first, false)) text += ' ';
    text += texts.empty() || texts[i].empty() ? vocabulary.word(ids[i]) : texts[i];
  }
  return text;
}

std::unique_ptr<const Vocabulary> load_vocabulary(const std::string& path,
                                                  const VocabularyOptions& options) {
  const std::string_view extension = file_extension(without_compression(path));
  if (extension == "fsv")
    throw Error(fmt::format(
        "{}: factored vocabularies (.fsv) are not supported; use .spm, .yml or text", path));
  std::string stored = read_file(path, kMaxVocabularyBytes);
  if (options.digest) expect_digest(stored, path, *options.digest);
  const std::string bytes = expand_text(std::move(stored), path, kMaxVocabularyBytes);
  if (extension == "spm" || extension == "model")
    return parse_sentencepiece_vocabulary(bytes, path, options);
  if (extension == "json" && is_tokenizer_file(bytes))
    return parse_tokenizer_vocabulary(bytes, path, options);
  return parse_word_vocabulary(bytes, extension, path, options);
}

}  // namespace fuselage
