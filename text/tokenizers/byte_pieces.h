#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "text/tokenizers/piece_table.h"

namespace fuselage {

/// The pieces <0x00> to <0xFF> that spell characters which are not in a vocabulary.
class BytePieces {
 public:
  BytePieces() = default;  ///< none
  explicit BytePieces(const PieceTable& pieces);

  /// Whether there is a piece for each byte of a text.
  bool can_spell(std::string_view text) const;

  WordId id(unsigned char byte) const { return ids_[byte]; }

 private:
  static constexpr std::size_t kByteCount = 256;
  static constexpr std::array<WordId, kByteCount> none() {
    std::array<WordId, kByteCount> ids{};
    ids.fill(-1);
    return ids;
  }

  std::array<WordId, kByteCount> ids_ = none();
};

/// The byte that such a piece spells; nothing for any other text. As in the library `tokenizers`,
/// the number may be in small letters.
std::optional<char> byte_of_piece(std::string_view piece);

}  // namespace fuselage
