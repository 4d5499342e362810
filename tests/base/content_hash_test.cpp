#include "base/files/content_hash.h"

#include <gmock/gmock.h>

#include <set>
#include <vector>

namespace fuselage {
namespace {

std::string hash_of(const std::vector<std::string>& pieces) {
  ContentHash hash;
  for (const std::string& piece : pieces) hash.add(piece);
  return hash.text();
}

TEST(ContentHash, IsThatOfTheContent) {
  EXPECT_EQ(hash_of({"abc", "d"}), hash_of({"abc", "d"}));
  EXPECT_EQ(hash_of({"abc"}).size(), 32u);
}

TEST(ContentHash, TellsPiecesApart) {
  const std::set<std::string> hashes{hash_of({}),          hash_of({""}),
                                     hash_of({"", ""}),    hash_of({"ab", "c"}),
                                     hash_of({"a", "bc"}), hash_of({"abc"}),
                                     hash_of({"cab"}),     hash_of({std::string("abc\0", 4)})};
  EXPECT_EQ(hashes.size(), 8u);
}

TEST(ContentHash, SeesEachBitOfAnyLength) {
  for (const std::size_t length : {1u, 7u, 8u, 9u, 31u, 32u, 33u, 100u}) {
    const std::string text(length, 'x');
    std::set<std::string> hashes{hash_of({text})};
    for (std::size_t bit = 0; bit < 8 * length; ++bit) {
      std::string other = text;
      other[bit / 8] = static_cast<char>(other[bit / 8] ^ 1 << bit % 8);
      hashes.insert(hash_of({other}));
    }
    EXPECT_EQ(hashes.size(), 8 * length + 1) << length;
  }
}

TEST(ContentHash, SeesTheOrderOfWords) {
  const std::string a(32, 'a'), b(32, 'b');
  EXPECT_NE(hash_of({a + b}), hash_of({b + a}));
  EXPECT_NE(hash_of({"aaaaaaaabbbbbbbb"}), hash_of({"bbbbbbbbaaaaaaaa"}));
}

}  // namespace
}  // namespace fuselage
