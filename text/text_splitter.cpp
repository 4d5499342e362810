#include "text/text_splitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/files/compression.h"
#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "text/bpe/bpe.h"
#include "text/sentencepiece/splitter.h"
#include "text/split.h"

namespace fuselage {
namespace {

/// The tokens >>…<< at the beginning of `line`, which is left without them.
std::string take_language_tokens(std::string_view& line) {
  std::string tokens;
  for (;;) {
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view rest = line.substr(begin);
    const std::size_t end = rest.find("<<");
    if (!rest.starts_with(">>") || end == std::string_view::npos || end == 2) return tokens;
    const std::string_view token = rest.substr(0, end + 2);
    if (token.find(' ') != std::string_view::npos) return tokens;
    tokens += token;
    tokens += ' ';
    line = rest.substr(token.size());
  }
}

class SplitVocabulary : public Vocabulary {
 public:
  SplitVocabulary(std::shared_ptr<const Vocabulary> words,
                  std::shared_ptr<const TextSplitter> splitter, const SplitterUse& use)
      : words_(std::move(words)), splitter_(std::move(splitter)), use_(use) {
    end_id_ = words_->end_id();
    unknown_id_ = words_->unknown_id();
    size_ = words_->size();
    stored_size_ = words_->stored_size();
    control_ids_ = words_->control_ids();
    added_ = words_->added_words();
  }

  std::vector<WordId> encode(std::string_view line) const override {
    line = without_carriage_return(line);
    if (!use_.split) return words_->encode(line);
    std::string words = take_language_tokens(line);
    words += splitter_->split(line);
    return words_->encode(words);
  }

  std::vector<std::string> texts(std::string_view line) const override {
    line = without_carriage_return(line);
    if (!use_.split) return words_->texts(line);
    std::vector<std::string> texts;
    for_each_word(take_language_tokens(line),
                  [&texts](std::string_view token) { texts.emplace_back(token); });
    for (std::string& text : splitter_->texts(line)) texts.push_back(std::move(text));
    return texts;
  }

  std::string normalized(std::string_view line) const override {
    return use_.split ? splitter_->normalized(line) : words_->normalized(line);
  }

  using Vocabulary::decode;
  std::string decode(std::span<const WordId> ids,
                     std::span<const std::string> texts) const override {
    if (!use_.join) return words_->decode(ids, texts);
    if (texts.empty()) return finished(splitter_->join(words_->decode(ids)));
    std::vector<std::string> words, kept;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] == end_id_ || is_added(ids[i])) continue;
      words.emplace_back(word(ids[i]));
      kept.push_back(texts[i]);
    }
    return finished(splitter_->join(words, kept));
  }

  std::string_view word(WordId id) const override { return words_->word(id); }

  std::optional<WordId> find(std::string_view word) const override { return words_->find(word); }

  bool splits_text() const override { return true; }

  bool continues_word(WordId id) const override { return splitter_->continues_word(word(id)); }

 private:
  std::string finished(const std::string& text) const {
    return added_.empty() ? text : std::string(without_outer_spaces(text));
  }

  std::shared_ptr<const Vocabulary> words_;
  std::shared_ptr<const TextSplitter> splitter_;
  SplitterUse use_;
};

}  // namespace

std::vector<std::string> TextSplitter::texts(std::string_view line) const {
  std::vector<std::string> texts;
  for_each_word(split(line), [&texts](std::string_view word) { texts.emplace_back(word); });
  return texts;
}

std::string TextSplitter::join(const std::vector<std::string>& words,
                               std::span<const std::string> texts) const {
  std::string joined;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) joined += ' ';
    joined += texts[i].empty() ? words[i] : texts[i];
  }
  return join(joined);
}

bool is_sentencepiece(const std::string& path, std::string_view bytes) {
  const std::string_view extension = file_extension(without_compression(path));
  return extension == "spm" || (extension == "model" && begins_sentencepiece_model(bytes));
}

std::unique_ptr<const TextSplitter> load_splitter(const std::string& path,
                                                  const SplitterOptions& options) {
  std::string stored = read_file(path, kMaxVocabularyBytes);
  if (options.digest) expect_digest(stored, path, *options.digest);
  const std::string bytes = expand_text(std::move(stored), path, kMaxVocabularyBytes);
  if (!is_sentencepiece(path, bytes)) return parse_bpe(bytes, path, options.glossaries);
  if (!options.glossaries.empty())
    throw Error(
        fmt::format("{}: a SentencePiece model has no glossaries; they belong to BPE codes", path));
  return parse_sentencepiece_splitter(bytes, path);
}

std::unique_ptr<const Vocabulary> with_splitter(std::shared_ptr<const Vocabulary> words,
                                                std::shared_ptr<const TextSplitter> splitter,
                                                const SplitterUse& use) {
  return std::make_unique<SplitVocabulary>(std::move(words), std::move(splitter), use);
}

}  // namespace fuselage
