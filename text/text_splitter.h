#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/base/sha256.h"
#include "text/vocabulary.h"

namespace fuselage {

/// Splits text into the words of a vocabulary, which is in another file, and joins such words.
/// Immutable, so threads may share it.
class TextSplitter {
 public:
  virtual ~TextSplitter() = default;
  TextSplitter(const TextSplitter&) = delete;
  TextSplitter& operator=(const TextSplitter&) = delete;

  /// The words of a line, separated by spaces.
  virtual std::string split(std::string_view line) const = 0;

  /// The text that each word of a line stands for.
  virtual std::vector<std::string> texts(std::string_view line) const;

  /// The text that the words of a line spell; see Vocabulary::normalized.
  virtual std::string normalized(std::string_view line) const { return std::string(line); }

  /// The text of words that are separated by spaces.
  virtual std::string join(std::string_view words) const = 0;

  /// The same for a list of words, with the texts in the places of words where they are not empty.
  virtual std::string join(const std::vector<std::string>& words,
                           std::span<const std::string> texts) const;

  /// Whether a word of the vocabulary goes on with the word of the text before it.
  virtual bool continues_word(std::string_view) const { return false; }

 protected:
  TextSplitter() = default;
};

/// How a splitter is loaded.
struct SplitterOptions {
  /// Words that stay whole; see parse_bpe. A SentencePiece model has none.
  std::vector<std::string> glossaries = {};
  /// Digest that the file must have.
  std::optional<ListedDigest> digest = {};
};

/// Loads a splitter: a SentencePiece model (.spm or .model, which .gz or .zst may follow), or BPE
/// codes (any other name, and text in a .model). Throws Error with the path for a file that cannot
/// be read, is invalid, or has more than kMaxVocabularyBytes bytes.
std::unique_ptr<const TextSplitter> load_splitter(const std::string& path,
                                                  const SplitterOptions& options = {});

/// How a vocabulary uses its splitter.
struct SplitterUse {
  bool split = true;  ///< false: lines are already split
  bool join = true;   ///< false: texts are words separated by spaces
};

/// `words` for text that `splitter` splits. Tokens such as >>deu<< at the beginning of a line,
/// which name a language, are words by themselves.
std::unique_ptr<const Vocabulary> with_splitter(std::shared_ptr<const Vocabulary> words,
                                                std::shared_ptr<const TextSplitter> splitter,
                                                const SplitterUse& use = {});

}  // namespace fuselage
