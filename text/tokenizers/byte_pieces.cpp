#include "text/tokenizers/byte_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace fuselage {

BytePieces::BytePieces(const PieceTable& pieces) {
  for (std::size_t byte = 0; byte < kByteCount; ++byte)
    ids_[byte] = pieces.find(fmt::format("<0x{:02X}>", byte)).value_or(-1);
}

bool BytePieces::can_spell(std::string_view text) const {
  return std::all_of(text.begin(), text.end(),
                     [this](char c) { return id(static_cast<unsigned char>(c)) >= 0; });
}

std::optional<char> byte_of_piece(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || !piece.ends_with('>')) return std::nullopt;
  unsigned byte = 0;
  const char* const end = piece.data() + 5;
  const auto [stop, error] = std::from_chars(piece.data() + 3, end, byte, 16);
  if (error != std::errc() || stop != end) return std::nullopt;
  return static_cast<char>(byte);
}

}  // namespace fuselage
