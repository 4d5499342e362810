#include "text/shortlist/shortlist.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/files/compression.h"
#include "base/files/file.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

constexpr std::size_t kMultiple = 8;

/// A set of chosen words.
class Choice {
 public:
  explicit Choice(std::size_t words) : words_(words), chosen_((words + kBits - 1) / kBits, 0) {}

  void take(WordId word) {
    const auto at = static_cast<std::size_t>(word);
    if (word < 0 || at >= words_) return;
    std::uint64_t& bits = chosen_[at / kBits];
    const std::uint64_t bit = std::uint64_t{1} << at % kBits;
    count_ += (bits & bit) == 0 ? 1 : 0;
    bits |= bit;
  }

  /// Adds words from `first` on until their number is a multiple of kMultiple, or all are chosen.
  void fill_up(std::int64_t first) {
    for (auto at = static_cast<std::size_t>(first); count_ % kMultiple != 0 && at < words_; ++at)
      take(static_cast<WordId>(at));
  }

  std::vector<WordId> ascending() const {
    std::vector<WordId> words;
    words.reserve(count_);
    for (std::size_t i = 0; i < chosen_.size(); ++i)
      for (std::uint64_t bits = chosen_[i]; bits != 0; bits &= bits - 1)
        words.push_back(
            static_cast<WordId>(i * kBits + static_cast<std::size_t>(std::countr_zero(bits))));
    return words;
  }

 private:
  static constexpr std::size_t kBits = 64;

  std::size_t words_;
  std::vector<std::uint64_t> chosen_;
  std::size_t count_ = 0;
};

}  // namespace

Shortlist::Shortlist(LexicalTable table, std::int64_t words, WordId end_id, bool shared)
    : table_(std::move(table)),
      words_(static_cast<std::size_t>(words)),
      end_id_(end_id),
      shared_(shared) {
  table_.first = std::clamp<std::int64_t>(table_.first, 0, words);
}

std::vector<WordId> Shortlist::words_for(std::span<const WordId> source) const {
  Choice choice(words_);
  for (std::int64_t word = 0; word < table_.first; ++word) choice.take(static_cast<WordId>(word));
  choice.take(end_id_);
  for (const WordId word : source) {
    for (const WordId translation : table_.of(word)) choice.take(translation);
    if (shared_) choice.take(word);
  }
  choice.fill_up(table_.first);
  return choice.ascending();
}

LexicalTable load_lexical_table(const ShortlistOptions& options, const LexicalSides& sides) {
  const std::string bytes = read_text(options.path, kMaxLexicalTableBytes);
  if (is_lexical_binary(bytes) || file_extension(without_compression(options.path)) == "bin")
    return parse_lexical_binary(bytes, options.path, sides, options.checksum);
  return parse_lexical_text(bytes, options.path, sides, options.limits);
}

}  // namespace fuselage
