#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fuselage {

/// What encoding and decoding need of a SentencePiece model. The texts lie in the bytes that it was
/// parsed from.
struct SentencePieceModel {
  enum class Type : std::uint8_t { unigram = 1, bpe = 2, word = 3, character = 4 };
  enum class PieceType : std::uint8_t {
    normal = 1,
    unknown = 2,
    control = 3,
    user_defined = 4,
    unused = 5,
    byte = 6
  };

  struct Piece {
    std::string_view text;
    float score = 0;
    PieceType type = PieceType::normal;
  };

  /// Of the text before it is cut into pieces, or after pieces are joined.
  struct Normalizer {
    std::string_view charsmap;
    bool add_dummy_prefix = true;
    bool remove_extra_whitespaces = true;
    bool escape_whitespaces = true;
  };

  std::vector<Piece> pieces;
  Type type = Type::unigram;
  bool treat_whitespace_as_suffix = false;
  bool byte_fallback = false;
  /// The texts of special pieces; an empty one stands for the library's own.
  std::string_view unknown, begin, end, padding;
  std::string_view unknown_surface = " \xE2\x81\x87 ";
  Normalizer normalizer, denormalizer;
};

/// Reads a model as the library would: of a field that is repeated the last one counts, and
/// messages that are repeated are merged. Throws Error, without a file's name, for what is no such
/// model, and for all by which the library could read memory that is not its own or take more than
/// linear time. Takes time linear in the bytes.
SentencePieceModel parse_sentencepiece_model(std::string_view bytes);

/// The model in the wire format that the library reads, each field once.
std::string print_sentencepiece_model(const SentencePieceModel& model);

}  // namespace fuselage
