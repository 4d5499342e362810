#include "text/sentencepiece/charsmap.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <vector>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::uint32_t kLeaf = 1u << 31, kHasLeaf = 1u << 8;

/// A double-array trie, unit by unit.
class TrieWriter {
 public:
  explicit TrieWriter(std::size_t blocks) : units_(blocks * 256, kLeaf) { lead(0, 256, 0); }

  /// Unit `from` gets the label and leads to the base `base`, which shares its highest bits.
  void lead(std::uint32_t from, std::uint32_t base, std::uint32_t label, bool has_leaf = false) {
    units_[from] = (from ^ base) << 10 | (has_leaf ? kHasLeaf : 0) | label;
  }
  void leaf(std::uint32_t at, std::uint32_t text) { units_[at] = kLeaf | text; }
  void set(std::uint32_t at, std::uint32_t unit) { units_[at] = unit; }

  std::string charsmap(const std::string& texts) const {
    const auto bytes = static_cast<std::uint32_t>(units_.size() * 4);
    std::string result(reinterpret_cast<const char*>(&bytes), 4);
    result.append(reinterpret_cast<const char*>(units_.data()), bytes);
    return result + texts;
  }

 private:
  std::vector<std::uint32_t> units_;
};

const std::string kTexts("a\0b\0", 4);

/// 'A' becomes the second text, by base 512.
TrieWriter one_rule() {
  TrieWriter trie(4);
  trie.lead(256 ^ 'A', 512, 'A', true);
  trie.leaf(512, 2);
  return trie;
}

/// As many nested rules as given, each of one byte more: unit 256·i ^ 'A' leads to base 256·(i +
/// 1).
TrieWriter nested_rules(std::uint32_t rules, std::uint32_t bytes) {
  TrieWriter trie(bytes + 2);
  for (std::uint32_t i = 1; i <= bytes; ++i) {
    trie.lead(256 * i ^ 'A', 256 * (i + 1), 'A', i <= rules);
    trie.leaf(256 * (i + 1), 0);
  }
  return trie;
}

TEST(Charsmap, TakesWhatLeadsNowhereElse) {
  check_charsmap("");
  check_charsmap(TrieWriter(2).charsmap(kTexts));
  check_charsmap(one_rule().charsmap(kTexts));
}

TEST(Charsmap, AValueMustBeALeafThatPointsIntoTheTexts) {
  const auto refuses = [](const TrieWriter& trie) {
    EXPECT_THAT([&] { check_charsmap(trie.charsmap(kTexts)); },
                ThrowsMessage<Error>(HasSubstr("a leaf of its normalization table leads astray")));
  };
  TrieWriter trie = one_rule();
  trie.leaf(512, 4);
  refuses(trie);
  trie.set(512, 2);  // no leaf
  refuses(trie);
}

TEST(Charsmap, EveryBranchMustStayInside) {
  const auto refuses = [](const TrieWriter& trie) {
    EXPECT_THAT(
        [&] { check_charsmap(trie.charsmap(kTexts)); },
        ThrowsMessage<Error>(HasSubstr("a branch of its normalization table leads astray")));
  };
  TrieWriter trie = one_rule();
  trie.lead(256 ^ 'A', 1024, 'A');
  refuses(trie);
  trie = one_rule();
  trie.lead(0, 1024, 0);
  refuses(trie);
  trie = one_rule();
  trie.set(0, kLeaf | 1u << 20);  // the root with the leaf bit
  refuses(trie);
  trie = one_rule();
  trie.lead(256 ^ 'A', 1 << 20, 'B');  // a label that no byte leads to
  check_charsmap(trie.charsmap(kTexts));
}

TEST(Charsmap, ANulInTheTextIsFollowedToo) {
  TrieWriter trie = one_rule();
  trie.lead(256, 4096, 0);
  EXPECT_THAT([&] { check_charsmap(trie.charsmap(kTexts)); },
              ThrowsMessage<Error>(HasSubstr("a branch")));
}

TEST(Charsmap, RulesAreBoundedInLengthAndNumber) {
  check_charsmap(nested_rules(32, 256).charsmap(kTexts));
  EXPECT_THAT([] { check_charsmap(nested_rules(33, 40).charsmap(kTexts)); },
              ThrowsMessage<Error>(HasSubstr("33 rules of its normalization table begin alike")));
  EXPECT_THAT([] { check_charsmap(nested_rules(1, 257).charsmap(kTexts)); },
              ThrowsMessage<Error>(HasSubstr("256 bytes")));
}

TEST(Charsmap, ACircleIsRefused) {
  TrieWriter trie = one_rule();
  trie.lead(512 ^ 'B', 256, 'B');
  EXPECT_THAT([&] { check_charsmap(trie.charsmap(kTexts)); },
              ThrowsMessage<Error>(HasSubstr("more than 256 bytes")));
}

TEST(Charsmap, SharedBranchesTakeNoTimeOfTheirOwn) {
  // 2^200 ways to the end.
  TrieWriter trie(202);
  for (std::uint32_t i = 1; i <= 200; ++i)
    for (const std::uint32_t label : {0x41U, 0x42U})
      trie.lead(256 * i ^ label, 256 * (i + 1), label);
  check_charsmap(trie.charsmap(kTexts));
}

TEST(Charsmap, TextsEndAndAreShort) {
  const auto refuses = [](const std::string& texts, const char* why) {
    EXPECT_THAT([&] { check_charsmap(one_rule().charsmap(texts)); },
                ThrowsMessage<Error>(HasSubstr(why)));
  };
  refuses("a", "have no end");
  refuses("", "have no end");
  refuses(kTexts + std::string(257, 'x') + '\0', "257 bytes, more than 256");
  check_charsmap(one_rule().charsmap(kTexts + std::string(256, 'x') + '\0'));
}

TEST(Charsmap, SizesMustAgree) {
  const std::string whole = one_rule().charsmap(kTexts);
  for (const std::size_t size : {1, 3, 4, 5, 100, 4099})
    EXPECT_THROW(check_charsmap(whole.substr(0, size)), Error) << size;
  for (const char byte : {'\0', '\1', '\xFF'}) {
    std::string changed = whole;
    changed[0] = byte;
    changed[1] = changed[2] = byte;
    EXPECT_THROW(check_charsmap(changed), Error);
  }
}

}  // namespace
}  // namespace fuselage
