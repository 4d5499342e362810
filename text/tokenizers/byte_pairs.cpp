#include "text/tokenizers/byte_pairs.h"

#include <functional>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "text/unicode.h"

namespace fuselage {
namespace {

/// Merges the pairs of a list of tokens.
class TokenMerger {
 public:
  TokenMerger(const PieceMerges& merges, const std::vector<Token>& tokens) : merges_(merges) {
    symbols_.reserve(tokens.size());
    for (const Token& token : tokens) {
      const std::size_t at = symbols_.size();
      symbols_.push_back({token, at + 1, at == 0 ? kNone : at - 1});
    }
    for (std::size_t at = 0; at + 1 < symbols_.size(); ++at) offer(at);
  }

  void run(std::vector<Token>& tokens) {
    while (!queue_.empty()) {
      const Pair pair = queue_.top();
      queue_.pop();
      if (is_current(pair)) merge(pair);
    }
    for (std::size_t at = 0; at < symbols_.size(); at = symbols_[at].next)
      tokens.push_back(symbols_[at].token);
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  struct Symbol {
    Token token;
    std::size_t next = 0, previous = kNone;
    bool merged = false;  ///< into the one before it
  };

  /// The symbol `at` and the next one.
  struct Pair {
    std::uint32_t rank = 0;
    std::size_t at = 0;
    WordId result = 0;

    bool operator>(const Pair& other) const {
      return std::tie(rank, at) > std::tie(other.rank, other.at);
    }
  };

  const PieceMerges::Merge* merge_at(std::size_t at) const {
    const std::size_t next = symbols_[at].next;
    if (next >= symbols_.size()) return nullptr;
    return merges_.find(symbols_[at].token.id, symbols_[next].token.id);
  }

  void offer(std::size_t at) {
    if (const PieceMerges::Merge* merge = merge_at(at))
      queue_.push({merge->rank, at, merge->result});
  }

  bool is_current(const Pair& pair) const {
    if (symbols_[pair.at].merged) return false;
    const PieceMerges::Merge* merge = merge_at(pair.at);
    return merge != nullptr && merge->result == pair.result;
  }

  void merge(const Pair& pair) {
    Symbol& left = symbols_[pair.at];
    Symbol& right = symbols_[left.next];
    left.token = {pair.result, {left.token.range.begin, right.token.range.end}};
    right.merged = true;
    left.next = right.next;
    if (left.next < symbols_.size()) symbols_[left.next].previous = pair.at;
    if (left.previous != kNone) offer(left.previous);
    offer(pair.at);
  }

  const PieceMerges& merges_;
  std::vector<Symbol> symbols_;
  std::priority_queue<Pair, std::vector<Pair>, std::greater<>> queue_;
};

}  // namespace

BytePairModel::BytePairModel(const PieceTable& pieces, PieceMerges merges,
                             const BytePairOptions& options)
    : pieces_(pieces), merges_(std::move(merges)), options_(options) {
  if (options.spells_unknown) bytes_ = BytePieces(pieces);
}

std::vector<Token> BytePairModel::characters(std::string_view part) const {
  std::vector<Token> tokens;
  std::optional<Token> unknown;  // behind the tokens
  const auto finish_unknown = [&] {
    if (unknown) tokens.push_back(*std::exchange(unknown, std::nullopt));
  };
  for (std::size_t at = 0; at < part.size();) {
    const std::size_t end = at + first_character(part.substr(at)).length;
    const std::string_view character = part.substr(at, end - at);
    if (const std::optional<WordId> id = pieces_.find(character)) {
      finish_unknown();
      tokens.push_back({*id, {at, end}});
    } else if (bytes_.can_spell(character)) {
      // As in the library, before an unknown token that is not yet finished.
      for (std::size_t i = at; i < end; ++i)
        tokens.push_back({bytes_.id(static_cast<unsigned char>(part[i])), {i, i + 1}});
    } else if (options_.unknown >= 0) {
      if (!options_.joins_unknown) finish_unknown();
      unknown = Token{options_.unknown, {unknown ? unknown->range.begin : at, end}};
    }
    at = end;
  }
  finish_unknown();
  return tokens;
}

void BytePairModel::split(std::string_view part, std::vector<Token>& tokens) const {
  if (options_.keeps_pieces)
    if (const std::optional<WordId> id = pieces_.find(part)) {
      tokens.push_back({*id, {0, part.size()}});
      return;
    }
  TokenMerger(merges_, characters(part)).run(tokens);
}

}  // namespace fuselage
