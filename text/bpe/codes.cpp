#include "text/bpe/codes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <tuple>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "text/lines.h"
#include "text/split.h"
#include "text/utf8.h"

namespace fuselage {
namespace {

constexpr std::string_view kEndOfWord = "</w>";
constexpr std::string_view kVersion = "#version:";

std::uint64_t key_of(std::int32_t left, std::int32_t right) {
  return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}

}  // namespace

BpeCodes::BpeCodes(std::string_view bytes, const std::string& name) {
  std::uint32_t rank = 0;
  for_each_line(bytes, [&](std::string_view line, std::size_t number) {
    const std::string where = fmt::format("{}:{}", name, number);
    if (number == 1 && line.starts_with(kVersion)) {
      const std::string_view version = line.substr(std::min(line.rfind(' ') + 1, line.size()));
      if (version != "0.1" && version != "0.2")
        throw Error(fmt::format("{}: the version of the codes is {}; 0.1 and 0.2 are known", where,
                                in_quotes(version)));
      end_is_symbol_ = version == "0.1";
    } else {
      add_merge(line, rank++, where);
    }
  });
  if (merges_.empty()) throw Error(fmt::format("{}: there are no codes in it", name));
}

void BpeCodes::add_merge(std::string_view line, std::uint32_t rank, const std::string& where) {
  std::array<std::string_view, 2> pair;
  std::size_t count = 0;
  for_each_word(line, [&](std::string_view symbol) {
    if (count < pair.size()) pair[count] = symbol;
    ++count;
  });
  if (count != pair.size())
    throw Error(fmt::format("{}: {} symbols; a line of BPE codes has the two that are merged",
                            where, count));
  const SymbolId left = intern(pair[0]), right = intern(pair[1]);
  // Of repeated codes the first one counts.
  merges_.try_emplace(key_of(left, right),
                      Merge{rank, intern(std::string(pair[0]) + std::string(pair[1]))});
}

BpeCodes::SymbolId BpeCodes::intern(std::string_view symbol) {
  return symbols_.try_emplace(std::string(symbol), static_cast<SymbolId>(symbols_.size()))
      .first->second;
}

BpeCodes::SymbolId BpeCodes::find(std::string_view symbol) const {
  const auto found = symbols_.find(std::string(symbol));
  return found == symbols_.end() ? -1 : found->second;
}

const BpeCodes::Merge* BpeCodes::find_merge(SymbolId left, SymbolId right) const {
  if (left < 0 || right < 0) return nullptr;
  const auto found = merges_.find(key_of(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

/// The symbols of a word as a list. A round merges all pairs of the lowest rank, from left to
/// right, before those that come to be by it.
class BpeCodes::Merger {
 public:
  Merger(const BpeCodes& codes, std::string_view word) : codes_(codes), word_(word) {
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t length = std::max<std::size_t>(1, utf8_sequence_length(word.substr(at)));
      add(word.substr(at, length), at, length);
      at += length;
    }
    if (codes.end_is_symbol_) {
      add(kEndOfWord, word.size(), 0);
    } else {
      Symbol& last = symbols_.back();
      last.id = codes.find(std::string(text_of(last)) + std::string(kEndOfWord));
    }
    for (std::size_t at = 0; at + 1 < symbols_.size(); ++at) offer(at);
  }

  std::vector<std::string_view> run() {
    std::vector<Pair> created;
    while (!queue_.empty()) {
      const std::uint32_t rank = queue_.top().rank;
      created.clear();
      created_ = &created;
      for (; !queue_.empty() && queue_.top().rank == rank;) {
        const Pair pair = queue_.top();
        queue_.pop();
        if (is_current(pair)) merge(pair);
      }
      for (const Pair& pair : created) queue_.push(pair);
      created_ = nullptr;
    }
    std::vector<std::string_view> subwords;
    for (std::size_t at = 0; at < symbols_.size(); at = symbols_[at].next)
      if (symbols_[at].length > 0) subwords.push_back(text_of(symbols_[at]));
    return subwords;
  }

 private:
  struct Symbol {
    SymbolId id = -1;
    std::size_t begin = 0, length = 0;
    std::size_t next = 0, previous = 0;
    bool merged = false;  ///< into the one before it
  };

  /// The symbol `at` and the next one, as they were when the pair was found.
  struct Pair {
    std::uint32_t rank = 0;
    std::size_t at = 0;
    SymbolId left = -1, right = -1, result = -1;

    bool operator>(const Pair& other) const {
      return std::tie(rank, at) > std::tie(other.rank, other.at);
    }
  };

  std::string_view text_of(const Symbol& symbol) const {
    return word_.substr(symbol.begin, symbol.length);
  }

  void add(std::string_view text, std::size_t begin, std::size_t length) {
    const std::size_t at = symbols_.size();
    symbols_.push_back({.id = codes_.find(text),
                        .begin = begin,
                        .length = length,
                        .next = at + 1,
                        .previous = at == 0 ? 0 : at - 1});
  }

  void offer(std::size_t at) {
    const std::size_t next = symbols_[at].next;
    if (next >= symbols_.size()) return;
    const Merge* merge = codes_.find_merge(symbols_[at].id, symbols_[next].id);
    if (merge == nullptr) return;
    const Pair pair{merge->rank, at, symbols_[at].id, symbols_[next].id, merge->result};
    if (created_ != nullptr)
      created_->push_back(pair);
    else
      queue_.push(pair);
  }

  bool is_current(const Pair& pair) const {
    const Symbol& symbol = symbols_[pair.at];
    return !symbol.merged && symbol.id == pair.left && symbol.next < symbols_.size() &&
           symbols_[symbol.next].id == pair.right;
  }

  void merge(const Pair& pair) {
    Symbol& left = symbols_[pair.at];
    Symbol& right = symbols_[left.next];
    left.id = pair.result;
    left.length += right.length;
    right.merged = true;
    left.next = right.next;
    if (left.next < symbols_.size()) symbols_[left.next].previous = pair.at;
    if (pair.at > 0) offer(left.previous);
    offer(pair.at);
  }

  const BpeCodes& codes_;
  std::string_view word_;
  std::vector<Symbol> symbols_;
  std::priority_queue<Pair, std::vector<Pair>, std::greater<>> queue_;
  std::vector<Pair>* created_ = nullptr;  ///< receives pairs that a round creates
};

std::vector<std::string_view> BpeCodes::split(std::string_view word) const {
  if (word.empty()) return {};
  return Merger(*this, word).run();
}

}  // namespace fuselage
