#pragma once

#include <string_view>
#include <vector>

#include "text/tokenizers/byte_pieces.h"
#include "text/tokenizers/piece_trie.h"
#include "text/tokenizers/token_model.h"

namespace fuselage {

/// Splits text into the pieces with the largest sum of scores (Kudo 2018, Viterbi search), as the
/// model Unigram of the library `tokenizers` does: a run of unknown characters is one token, or the
/// pieces of its bytes. Takes time linear in a text, times the length of the longest piece.
class UnigramModel : public TokenModel {
 public:
  /// `scores` are those of the entries of `pieces`, which stay as long as this object.
  UnigramModel(const PieceTable& pieces, std::vector<double> scores, WordId unknown,
               bool spells_unknown);

  void split(std::string_view part, std::vector<Token>& tokens) const override;

 private:
  /// The best path to a byte, by its last piece.
  struct Step {
    WordId id = 0;
    double score = 0;
    std::size_t begin = kNowhere;
  };

  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

  std::vector<Step> best_steps(std::string_view part) const;
  void add(TextRange range, std::string_view part, std::vector<Token>& tokens) const;

  const PieceTable& pieces_;
  std::vector<double> scores_;  ///< by id
  double unknown_score_ = 0;
  WordId unknown_;
  BytePieces bytes_;
  PieceTrie trie_;
};

}  // namespace fuselage
