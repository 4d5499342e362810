#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sha256.h"

namespace fuselage {

/// Number of a word in a vocabulary, from 0.
using WordId = std::int32_t;

/// Bytes that the file of a vocabulary may have.
inline constexpr std::size_t kMaxVocabularyBytes = std::size_t{64} << 20;

/// A mapping between text and word ids. Immutable, so threads may share one.
class Vocabulary {
 public:
  virtual ~Vocabulary() = default;
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  /// Word ids of one line, end symbol appended. Unknown words become unknown_id(). A carriage
  /// return at the end of the line is dropped.
  virtual std::vector<WordId> encode(std::string_view line) const = 0;

  /// Text of `ids`; end symbols are skipped, ids without a word count as empty words.
  virtual std::string decode(std::span<const WordId> ids) const = 0;

  /// The word or piece of `id`, "" for gaps and out of range; valid as long as the vocabulary.
  virtual std::string_view word(WordId id) const = 0;

  WordId end_id() const { return end_id_; }
  WordId unknown_id() const { return unknown_id_; }

  /// One more than the highest id in use.
  WordId size() const { return size_; }

  /// Ids besides unknown_id() that a search must never produce: SentencePiece's byte pieces
  /// <0x00> to <0x1F>. Ascending.
  const std::vector<WordId>& control_ids() const { return control_ids_; }

 protected:
  Vocabulary() = default;

  WordId end_id_ = 0;
  WordId unknown_id_ = 1;
  WordId size_ = 0;
  std::vector<WordId> control_ids_;
};

/// How a vocabulary is to be used.
struct VocabularyOptions {
  /// Ids from here on are left out and their words unknown, as for a source vocabulary that is
  /// larger than its model's embeddings; 0: no limit.
  std::int64_t limit = 0;
  /// SentencePiece: false takes lines that are split into pieces already, at spaces.
  bool sentencepiece_encode = true;
  /// SentencePiece: false leaves the pieces as they are, joined with spaces.
  bool sentencepiece_decode = true;
  /// What the file must hold.
  std::optional<ListedDigest> digest;
};

/// Loads by extension, with .gz or .zst behind it for a compressed file: .spm is SentencePiece;
/// .yml, .yaml and .json map words to ids; anything else has one word a line. Throws Error with the
/// path for a file that cannot be read, is not of its format, has more than kMaxVocabularyBytes
/// bytes, or lacks the end symbol; .fsv files (factored vocabularies) are refused.
std::unique_ptr<const Vocabulary> load_vocabulary(const std::string& path,
                                                  const VocabularyOptions& options = {});

}  // namespace fuselage
