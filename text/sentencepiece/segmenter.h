#pragma once

#include <sentencepiece_processor.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace fuselage {

/// SentencePiece's library with a model that was read and written anew (sentencepiece_model.h).
class SentencePieceSegmenter {
 public:
  /// `bytes` are those of an .spm file; `name` is used in place of its path in errors. Throws Error
  /// for an invalid model.
  SentencePieceSegmenter(std::string_view bytes, const std::string& name);

  const sentencepiece::SentencePieceProcessor& library() const { return processor_; }

  /// Number of pieces of the file.
  WordId size() const { return size_; }

  /// Whether a piece is one of the appended pieces that spell unknown characters, a byte each.
  /// Appended to the model, they spare the library quadratic time. A model with pieces of these
  /// names has none.
  bool spells_unknown(WordId id) const { return id >= size_; }

  /// The text of each piece of a line, without spaces around it; pieces that spell unknown
  /// characters one after the other are one.
  std::vector<std::string> surfaces(std::string_view line) const;

  /// The text that the pieces of a line spell: the line as the model normalizes it.
  std::string normalized(std::string_view line) const;

  /// The text of pieces with `texts` in the places of pieces where they are not empty.
  std::string decode(const std::vector<std::string>& pieces,
                     std::span<const std::string> texts) const;

 private:
  /// Loads the model; returns the error, or "".
  std::string load(std::string_view bytes);

  sentencepiece::SentencePieceProcessor processor_;
  WordId size_ = 0;
};

/// Whether a piece begins within a word of the text: with a letter, and without the sign U+2581
/// for a space.
bool piece_continues_word(std::string_view piece);

/// The piece <0xNN> that spells a byte.
std::string byte_piece(int byte);

/// The byte that a piece <0xNN> spells.
char spelled_byte(std::string_view piece);

}  // namespace fuselage
