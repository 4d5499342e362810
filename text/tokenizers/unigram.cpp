#include "text/tokenizers/unigram.h"

#include <algorithm>
#include <utility>

#include "text/unicode.h"

namespace fuselage {
namespace {

/// How much worse an unknown character is than the worst piece.
constexpr double kUnknownPenalty = 10;

}  // namespace

UnigramModel::UnigramModel(const PieceTable& pieces, std::vector<double> scores, WordId unknown,
                           bool spells_unknown)
    : pieces_(pieces), scores_(std::move(scores)), unknown_(unknown) {
  if (spells_unknown) bytes_ = BytePieces(pieces);
  std::vector<std::pair<std::string_view, WordId>> texts;
  texts.reserve(pieces.entries().size());
  for (const WordEntry& entry : pieces.entries()) texts.emplace_back(entry.word, entry.id);
  trie_ = PieceTrie(std::move(texts));
  if (!scores_.empty())
    unknown_score_ = *std::min_element(scores_.begin(), scores_.end()) - kUnknownPenalty;
}

std::vector<UnigramModel::Step> UnigramModel::best_steps(std::string_view part) const {
  std::vector<Step> steps(part.size() + 1);
  for (std::size_t begin = 0; begin < part.size();) {
    const double before = steps[begin].score;
    const std::size_t length = first_character(part.substr(begin)).length;
    bool is_known = false;
    const auto offer = [&](std::size_t bytes, WordId id, double score) {
      Step& step = steps[begin + bytes];
      if (step.begin == kNowhere || before + score > step.score) step = {id, before + score, begin};
    };
    trie_.for_each_prefix(part.substr(begin), [&](std::size_t bytes, WordId id) {
      offer(bytes, id, scores_[static_cast<std::size_t>(id)]);
      is_known = is_known || bytes == length;
    });
    if (!is_known) offer(length, unknown_, unknown_score_);
    begin += length;
  }
  return steps;
}

void UnigramModel::add(TextRange range, std::string_view part, std::vector<Token>& tokens) const {
  const std::string_view text = part.substr(range.begin, range.end - range.begin);
  if (const std::optional<WordId> id = pieces_.find(text)) {
    tokens.push_back({*id, range});
  } else if (bytes_.can_spell(text)) {
    for (std::size_t at = range.begin; at < range.end; ++at)
      tokens.push_back({bytes_.id(static_cast<unsigned char>(part[at])), {at, at + 1}});
  } else {
    tokens.push_back({unknown_, range});
  }
}

void UnigramModel::split(std::string_view part, std::vector<Token>& tokens) const {
  const std::vector<Step> steps = best_steps(part);
  std::vector<TextRange> ranges;  // from the last one
  bool in_unknown = false;
  for (std::size_t end = part.size(); end > 0; end = steps[end].begin) {
    const bool is_unknown = steps[end].id == unknown_;
    if (is_unknown && in_unknown)
      ranges.back().begin = steps[end].begin;
    else
      ranges.push_back({steps[end].begin, end});
    in_unknown = is_unknown;
  }
  for (auto range = ranges.rbegin(); range != ranges.rend(); ++range) add(*range, part, tokens);
}

}  // namespace fuselage
