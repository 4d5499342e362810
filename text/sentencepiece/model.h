#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fuselage {

/// The parts of a SentencePiece model that encoding and decoding need. The texts refer to the
/// parsed bytes.
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

  /// Normalization of the text before segmentation, or of the joined pieces after decoding.
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
  /// Texts of special pieces; empty: the library's default.
  std::string_view unknown, begin, end, padding;
  std::string_view unknown_surface = " \xE2\x81\x87 ";
  Normalizer normalizer, denormalizer;
};

/// Reads a model as the library does: the last value of a repeated field counts, and repeated
/// messages are merged. Throws Error, without a file name, for an invalid model, and for a model
/// with which the library could read out of bounds or take more than linear time. Takes time linear
/// in the bytes.
SentencePieceModel parse_sentencepiece_model(std::string_view bytes);

/// The model in the library's wire format, with each field once.
std::string print_sentencepiece_model(const SentencePieceModel& model);

}  // namespace fuselage
