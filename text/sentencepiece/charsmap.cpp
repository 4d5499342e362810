#include "text/sentencepiece/charsmap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "fuselage/base/error.h"
#include "text/utf8.h"

namespace fuselage {
namespace {

constexpr std::uint32_t kMaxRuleBytes = 256;       // replaced by one rule
constexpr std::size_t kMaxReplacementBytes = 256;  // of the replacement of a rule
constexpr std::uint32_t kMaxRulesAtOnePlace = 32;  // the library's buffer of matches
constexpr std::uint32_t kBlock = 256;

/// A unit of the trie in the bit layout of Darts-clone.
class Unit {
 public:
  explicit Unit(std::uint32_t bits) : bits_(bits) {}

  bool is_leaf() const { return bits_ >> 31 != 0; }
  bool has_leaf() const { return (bits_ >> 8 & 1) != 0; }
  std::uint32_t label() const { return bits_ & 0xFF; }
  std::uint32_t offset() const { return (bits_ >> 10) << ((bits_ & (1u << 9)) >> 6); }
  std::uint32_t text() const { return bits_ & 0x7FFFFFFF; }

 private:
  std::uint32_t bits_;
};

/// The reachable part of a trie. The base of unit i is i ^ offset, and byte b leads from a base to
/// the unit base ^ b if that unit has the label b. So a unit belongs to one base only.
class Trie {
 public:
  Trie(std::string_view units, std::size_t text_bytes) : text_bytes_(text_bytes) {
    units_.reserve(units.size() / 4);
    for (; !units.empty(); units.remove_prefix(4)) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, units.data(), 4);
      units_.emplace_back(bits);
    }
    first_.assign(units_.size(), kNone);
    next_.assign(units_.size(), kNone);
    for (std::uint32_t i = 0; i < units_.size(); ++i) {
      const std::uint32_t base = i ^ units_[i].label();
      if (units_[i].is_leaf() || base >= units_.size()) continue;
      next_[i] = first_[base];
      first_[base] = i;
    }
    extents_.resize(units_.size());
  }

  /// Throws Error if a walk from the root can leave the trie, is too long, or meets too many rules.
  void check() {
    const Extent all = extent(base_of(0), 0);
    if (all.height > kMaxRuleBytes)
      throw Error(fmt::format("a rule of its normalization table replaces {} bytes, more than {}",
                              all.height, kMaxRuleBytes));
    if (all.rules > kMaxRulesAtOnePlace)
      throw Error(fmt::format("{} rules of its normalization table begin alike, more than {}",
                              all.rules, kMaxRulesAtOnePlace));
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  /// Over the paths from a base: the maximum number of bytes, and of rules that end on one path.
  struct Extent {
    bool known = false;
    std::uint32_t height = 0, rules = 0;
  };

  std::uint32_t base_of(std::uint32_t i) const {
    const std::uint32_t base = i ^ units_[i].offset();
    if ((base | (kBlock - 1)) >= units_.size())
      throw Error("a branch of its normalization table leads astray");
    return base;
  }

  void check_leaf(std::uint32_t base) const {
    if (!units_[base].is_leaf() || units_[base].text() >= text_bytes_)
      throw Error("a leaf of its normalization table leads astray");
  }

  /// `depth`: bytes on the path to the base. A cycle ends at the limit of bytes.
  Extent extent(std::uint32_t base, std::uint32_t depth) {
    if (extents_[base].known) return extents_[base];
    if (depth > kMaxRuleBytes)
      throw Error(fmt::format("a rule of its normalization table replaces more than {} bytes",
                              kMaxRuleBytes));
    Extent all{.known = true};
    for (std::uint32_t i = first_[base]; i != kNone; i = next_[i]) {
      const std::uint32_t below = base_of(i);
      if (units_[i].has_leaf()) check_leaf(below);
      const Extent rest = extent(below, depth + 1);
      all.height = std::max(all.height, rest.height + 1);
      all.rules = std::max(all.rules, rest.rules + (units_[i].has_leaf() ? 1 : 0));
    }
    return extents_[base] = all;
  }

  std::vector<Unit> units_;
  std::size_t text_bytes_;
  std::vector<std::uint32_t> first_;  ///< per base, its first unit
  std::vector<std::uint32_t> next_;   ///< per unit, the next unit of its base
  std::vector<Extent> extents_;       ///< per base
};

void check_texts(std::string_view texts) {
  if (texts.empty() || texts.back() != '\0')
    throw Error("the texts of its normalization table have no end");
  while (!texts.empty()) {
    const std::size_t size = texts.find('\0');
    if (size > kMaxReplacementBytes)
      throw Error(fmt::format("a text of its normalization table has {} bytes, more than {}", size,
                              kMaxReplacementBytes));
    texts.remove_prefix(size + 1);
  }
}

}  // namespace

void check_charsmap(std::string_view charsmap) {
  if (charsmap.empty()) return;
  std::uint32_t trie_bytes = 0;
  if (charsmap.size() < sizeof trie_bytes) throw Error("its normalization table is cut short");
  std::memcpy(&trie_bytes, charsmap.data(), sizeof trie_bytes);
  charsmap.remove_prefix(sizeof trie_bytes);
  if (trie_bytes > charsmap.size() || trie_bytes % 4 != 0 || trie_bytes == 0)
    throw Error(fmt::format("the trie of its normalization table has {} bytes of {}", trie_bytes,
                            charsmap.size()));
  check_texts(charsmap.substr(trie_bytes));
  Trie(charsmap.substr(0, trie_bytes), charsmap.size() - trie_bytes).check();
}

Charsmap::Charsmap(std::string_view charsmap) {
  check_charsmap(charsmap);
  if (charsmap.empty()) return;
  std::uint32_t trie_bytes = 0;
  std::memcpy(&trie_bytes, charsmap.data(), sizeof trie_bytes);
  units_.resize(trie_bytes / sizeof(std::uint32_t));
  std::memcpy(units_.data(), charsmap.data() + sizeof trie_bytes, trie_bytes);
  texts_ = charsmap.substr(sizeof trie_bytes + trie_bytes);
  for (std::size_t at = 0; at < texts_.size(); at += std::strlen(texts_.data() + at) + 1)
    if (!is_valid_utf8(texts_.data() + at))
      throw Error("a text of its normalization table is not valid UTF-8");
}

std::optional<std::string_view> Charsmap::replacement(std::string_view text) const {
  if (units_.empty()) return std::nullopt;
  std::uint32_t at = Unit(units_[0]).offset();
  for (const char c : text) {
    if (c == '\0') break;
    at ^= static_cast<unsigned char>(c);
    const Unit unit(units_[at]);
    if (unit.is_leaf() || unit.label() != static_cast<unsigned char>(c)) break;
    at ^= unit.offset();
    if (!unit.has_leaf()) continue;
    const std::string_view found = texts_.data() + Unit(units_[at]).text();
    // A leaf may point into a character.
    return is_valid_utf8(found) ? std::optional(found) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace fuselage
