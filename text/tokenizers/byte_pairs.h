#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/tokenizers/byte_pieces.h"
#include "text/tokenizers/token_model.h"

namespace fuselage {

/// How a BytePairModel treats characters that are no pieces.
struct BytePairOptions {
  WordId unknown = -1;          ///< -1: they are left out
  bool joins_unknown = false;   ///< a run of them is one token
  bool spells_unknown = false;  ///< they are the pieces of their bytes, if there are all of these
  bool keeps_pieces = false;    ///< a part that is a piece is not split
};

/// The pairs of pieces that are merged, in the order of their ranks.
class PieceMerges {
 public:
  struct Merge {
    std::uint32_t rank = 0;
    WordId result = 0;
  };

  void reserve(std::size_t count) { merges_.reserve(count); }

  /// Of a pair that occurs twice the last one counts.
  void add(WordId left, WordId right, Merge merge) {
    merges_.insert_or_assign(key_of(left, right), merge);
  }

  /// Null if the two are not merged.
  const Merge* find(WordId left, WordId right) const {
    const auto found = merges_.find(key_of(left, right));
    return found == merges_.end() ? nullptr : &found->second;
  }

 private:
  static std::uint64_t key_of(WordId left, WordId right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 |
           static_cast<std::uint32_t>(right);
  }

  std::unordered_map<std::uint64_t, Merge> merges_;
};

/// Splits text into characters and merges pairs of pieces (Sennrich et al. 2016), as the model BPE
/// of the library `tokenizers` does: the pair of the lowest rank first, and of these the first one.
/// Takes time n log n in the bytes of a part.
class BytePairModel : public TokenModel {
 public:
  /// `pieces` stay as long as this object.
  BytePairModel(const PieceTable& pieces, PieceMerges merges, const BytePairOptions& options);

  void split(std::string_view part, std::vector<Token>& tokens) const override;

 private:
  /// The characters of a part, before pairs are merged.
  std::vector<Token> characters(std::string_view part) const;

  const PieceTable& pieces_;
  PieceMerges merges_;
  BytePairOptions options_;
  BytePieces bytes_;
};

}  // namespace fuselage
