#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/base/sha256.h"
#include "text/added_words.h"
#include "text/word_entry.h"

namespace fuselage {

/// Maximum size of the file of a vocabulary in bytes.
inline constexpr std::size_t kMaxVocabularyBytes = std::size_t{64} << 20;

/// A mapping between text and word ids. Immutable, so threads may share it.
class Vocabulary {
 public:
  virtual ~Vocabulary() = default;
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  /// Word ids of one line, with the end symbol appended. Unknown words become unknown_id(). A
  /// carriage return at the end of the line is dropped.
  virtual std::vector<WordId> encode(std::string_view line) const = 0;

  /// The text that each word of encode(line) stands for, without the end symbol.
  virtual std::vector<std::string> texts(std::string_view line) const = 0;

  /// The text that the words of a line of valid UTF-8 spell, as the vocabulary normalizes it before
  /// it looks words up: in another Unicode form for example, or in small letters.
  virtual std::string normalized(std::string_view line) const { return std::string(line); }

  /// Text of `ids`; end symbols and added words are skipped, ids without a word are empty words.
  /// `texts` has for each id the text in the place of its word, where that is not empty, or is
  /// empty itself.
  virtual std::string decode(std::span<const WordId> ids,
                             std::span<const std::string> texts) const = 0;
  std::string decode(std::span<const WordId> ids) const { return decode(ids, {}); }

  /// The word or piece of `id`, "" for ids in gaps or out of range; valid as long as the
  /// vocabulary.
  virtual std::string_view word(WordId id) const = 0;

  /// The id of a word, piece or added word; nothing for any other text.
  virtual std::optional<WordId> find(std::string_view word) const = 0;

  /// Whether text is split by the vocabulary itself, and needs no splitter.
  virtual bool splits_text() const { return false; }

  /// Whether the word is one of VocabularyOptions::added_words.
  bool is_added(WordId id) const { return added_.contains(id); }
  const AddedWords& added_words() const { return added_; }

  /// Whether the word or piece goes on with the word of the text that the one before it began.
  virtual bool continues_word(WordId) const { return false; }

  WordId end_id() const { return end_id_; }
  WordId unknown_id() const { return unknown_id_; }

  /// The highest id in use plus one.
  WordId size() const { return size_; }

  /// The same without VocabularyOptions::limit.
  WordId stored_size() const { return stored_size_; }

  /// Ids besides unknown_id() that a search must never produce: SentencePiece's byte pieces
  /// <0x00> to <0x1F>. Ascending.
  const std::vector<WordId>& control_ids() const { return control_ids_; }

 protected:
  Vocabulary() = default;

  WordId end_id_ = 0;
  WordId unknown_id_ = 1;
  WordId size_ = 0;
  WordId stored_size_ = 0;
  std::vector<WordId> control_ids_;
  AddedWords added_;
};

/// The words of `ids`, or the texts in their places, separated by spaces; see Vocabulary::decode.
std::string joined_words(const Vocabulary& vocabulary, std::span<const WordId> ids,
                         std::span<const std::string> texts);

/// How a vocabulary is loaded and used.
struct VocabularyOptions {
  /// Ids from `limit` on are left out and their words are unknown, for a vocabulary that is larger
  /// than the model's embeddings; 0: no limit.
  std::int64_t limit = 0;
  /// Least size(), for a vocabulary that is smaller than the model's embeddings: ids from the last
  /// one of the file on have no word.
  std::int64_t least_size = 0;
  /// Of a vocabulary that splits text: false: input lines are already split into pieces, separated
  /// by spaces.
  bool sentencepiece_encode = true;
  /// Of the same: false: output is pieces separated by spaces.
  bool sentencepiece_decode = true;
  /// The end symbol and the unknown symbol; empty: those that the file states, else </s> and <unk>.
  std::string end = {}, unknown = {};
  /// Words beside those of the file, with ids of their own. No text is split into them, and they
  /// are skipped in a decoded text. A word that the file has with the same id becomes such a
  /// symbol. Where there are such words, texts that a splitter joins have no spaces around them, as
  /// in the library `transformers`.
  std::vector<WordEntry> added_words = {};
  /// SentencePiece: how much larger the ids of pieces are than in the file. The ids that this
  /// leaves free, and those of symbols in the file, are for added words.
  std::int32_t piece_offset = 0;
  /// Digest that the file must have.
  std::optional<ListedDigest> digest;
};

/// Loads a vocabulary in the format of its extension, which .gz or .zst may follow for a compressed
/// file: .spm and .model are SentencePiece; .json is a tokenizer.json of the library `tokenizers`,
/// or maps words to ids as .yml and .yaml do; any other file has one word per line. Throws Error
/// with the path for a file that cannot be read, is invalid, has more than kMaxVocabularyBytes
/// bytes, or has no end symbol, and for .fsv files (factored vocabularies).
std::unique_ptr<const Vocabulary> load_vocabulary(const std::string& path,
                                                  const VocabularyOptions& options = {});

}  // namespace fuselage
