#include "text/shortlist/shortlist.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "tests/temp_path.h"
#include "text/words/word_vocabulary.h"

namespace fuselage::shortlist_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::unique_ptr<const Vocabulary> vocabulary_of(const std::string& words) {
  return parse_word_vocabulary("</s>\n<unk>\n" + words, "txt", "words.txt", {});
}

/// Ids from 2 on: the, house, cat; das, Haus, Katze, der, Kater.
class LexicalTables : public ::testing::Test {
 protected:
  LexicalTable parse(const std::string& text, const LexicalLimits& limits = {}) const {
    return parse_lexical_text(text, "lex.s2t", sides_, limits);
  }
  std::vector<WordId> of(const LexicalTable& table, WordId source) const {
    const auto words = table.of(source);
    return {words.begin(), words.end()};
  }
  std::string error_in(const std::string& text) const {
    return error_of([&] { parse(text); });
  }

  std::unique_ptr<const Vocabulary> source_ = vocabulary_of("the\nhouse\ncat\n");
  std::unique_ptr<const Vocabulary> target_ = vocabulary_of("das\nHaus\nKatze\nder\nKater\n");
  LexicalSides sides_{*source_, *target_};
};

TEST_F(LexicalTables, TextHasTheTargetWordFirst) {
  const LexicalTable table = parse("Haus house 0.75\ndas the 0.5\nder\tthe 0.25\r\nKatze cat 1e-3");
  EXPECT_EQ(table.first, 100);
  EXPECT_THAT(of(table, 2), ElementsAre(2, 5));
  EXPECT_THAT(of(table, 3), ElementsAre(3));
  EXPECT_THAT(of(table, 4), ElementsAre(4));
  EXPECT_THAT(of(table, 0), IsEmpty());
  EXPECT_THAT(of(table, 5), IsEmpty());
  EXPECT_THAT(of(table, -1), IsEmpty());
}

TEST_F(LexicalTables, TheMostProbableStayAndOfEqualOnesTheHigherIds) {
  const std::string text = "das the 0.1\nHaus the 0.3\nKatze the 0.2\nder the 0.3\nKater the 0.3\n";
  EXPECT_THAT(of(parse(text, {.best = 2}), 2), ElementsAre(6, 5));
  EXPECT_THAT(of(parse(text, {.best = 4}), 2), ElementsAre(6, 5, 3, 4));
  EXPECT_THAT(of(parse(text, {.best = 0}), 2), IsEmpty());
  EXPECT_EQ(parse(text, {.first = 7}).first, 7);
}

TEST_F(LexicalTables, AProbabilityMustBeAboveTheThreshold) {
  const std::string text = "das the 0.1\nHaus the 0.3\nder the 0\n";
  EXPECT_THAT(of(parse(text), 2), ElementsAre(3, 2));
  EXPECT_THAT(of(parse(text, {.threshold = 0.1}), 2), ElementsAre(3));
}

TEST_F(LexicalTables, OfRepeatedLinesTheLastOneCounts) {
  const LexicalTable table = parse("das the 0.9\nHaus the 0.5\ndas the 0.1\n");
  EXPECT_THAT(of(table, 2), ElementsAre(3, 2));
}

// As the definition: the last entry of each pair, by descending probability and then id.
TEST_F(LexicalTables, HaveTheOrderOfTheDefinition) {
  const std::vector<std::string> sources = {"the", "house", "cat", "dog"};
  const std::vector<std::string> targets = {"das", "Haus", "Katze", "der", "Kater", "Hund"};
  std::mt19937 engine(1);
  for (int i = 0; i < 200; ++i) {
    std::string text;
    std::map<WordId, std::map<WordId, int>> last;
    for (std::size_t line = 1 + engine() % 40; line > 0; --line) {
      const std::size_t source = engine() % sources.size(), target = engine() % targets.size();
      const int tenths = static_cast<int>(engine() % 5);
      text += fmt::format("{} {} 0.{}\n", targets[target], sources[source], tenths);
      const auto id = [](std::size_t word, std::size_t words) {
        return static_cast<WordId>(word + 1 == words ? 1 : word + 2);
      };
      last[id(source, sources.size())][id(target, targets.size())] = tenths;
    }
    const LexicalTable table = parse(text, {.best = 3});
    EXPECT_EQ(table.source_words(), static_cast<std::size_t>(last.rbegin()->first) + 1);
    for (WordId source = 0; source < 5; ++source) {
      std::vector<std::pair<int, WordId>> ranked;
      for (const auto& [target, tenths] : last[source])
        if (tenths > 0) ranked.emplace_back(tenths, target);
      std::sort(ranked.rbegin(), ranked.rend());
      ranked.resize(std::min<std::size_t>(ranked.size(), 3));
      std::vector<WordId> want;
      for (const auto& [tenths, target] : ranked) want.push_back(target);
      ASSERT_EQ(of(table, source), want) << text << "source " << source;
    }
  }
}

TEST_F(LexicalTables, UnknownWordsAreTheUnknownWordAndNullIsNone) {
  const LexicalTable table = parse("das dog 0.9\nHund the 0.5\nNULL the 1\ndas NULL 1\n");
  EXPECT_THAT(of(table, 1), ElementsAre(2));
  EXPECT_THAT(of(table, 2), ElementsAre(1));
}

TEST_F(LexicalTables, TextMayBeginWithAByteOrderMarkAndEndWithBlankLines) {
  EXPECT_THAT(of(parse("\xEF\xBB\xBFHaus house 0.75\r\n\r\n \n"), 3), ElementsAre(3));
}

TEST_F(LexicalTables, WhatIsNoTableIsRefusedWithItsLine) {
  EXPECT_EQ(error_in("das the 0.9\ndas the\n"),
            "lex.s2t:2: 2 fields; a line is a target word, a source word and a number");
  EXPECT_THAT(error_in("das the 0.9\n\ndas the 0.9"), HasSubstr("lex.s2t:2: 0 fields"));
  EXPECT_THAT(error_in("das the 0.9 1\n"), HasSubstr("lex.s2t:1: 4 fields"));
  for (const char* number : {"x", "-0.5", "nan", "inf", "0.5x", "1e999"})
    EXPECT_THAT(error_in(fmt::format("das the {}\n", number)),
                AllOf(HasSubstr("lex.s2t:1: "), HasSubstr(number), HasSubstr("no probability")));
  EXPECT_EQ(error_in(""), "lex.s2t: there is no translation of a word in it");
  EXPECT_NE(error_in("NULL the 1\n"), "");
}

// --- Binary ---

template <typename T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
void replace_at(std::string& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// By the definition, independently of the reader.
void sign(std::string& bytes) {
  std::uint64_t hash = 0;
  for (std::size_t at = 16; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, 8);
    hash = hash ^ (value + 0x9e3779b9u + (hash << 6) + (hash >> 2));
  }
  replace_at(bytes, 8, hash);
}

std::string binary_of(const std::vector<std::uint64_t>& offsets,
                      const std::vector<std::uint32_t>& words, std::uint64_t first = 3) {
  std::string bytes;
  append(bytes, std::uint64_t{0xF11A48D5013417F5});
  append(bytes, std::uint64_t{0});
  append(bytes, first);
  append(bytes, std::uint64_t{50});
  append(bytes, std::uint64_t{offsets.size()});
  append(bytes, std::uint64_t{words.size()});
  for (const std::uint64_t offset : offsets) append(bytes, offset);
  for (const std::uint32_t word : words) append(bytes, word);
  sign(bytes);
  return bytes;
}

class BinaryTables : public LexicalTables {
 protected:
  std::string good_ = binary_of({0, 0, 1, 3, 3, 6}, {1, 2, 5, 0, 4, 6});

  LexicalTable parse(const std::string& bytes, bool checksum = true) const {
    return parse_lexical_binary(bytes, "lex.bin", sides_, checksum);
  }
  std::string error_in(const std::string& bytes) const {
    return error_of([&] { parse(bytes); });
  }
};

TEST_F(BinaryTables, HaveAListForEachSourceWord) {
  ASSERT_TRUE(is_lexical_binary(good_));
  const LexicalTable table = parse(good_);
  EXPECT_EQ(table.first, 3);
  EXPECT_THAT(of(table, 0), IsEmpty());
  EXPECT_THAT(of(table, 1), ElementsAre(1));
  EXPECT_THAT(of(table, 2), ElementsAre(2, 5));
  EXPECT_THAT(of(table, 3), IsEmpty());
  EXPECT_THAT(of(table, 4), ElementsAre(0, 4, 6));
  EXPECT_THAT(of(table, 5), IsEmpty());
}

TEST_F(BinaryTables, MayHaveNoEntriesOrAnOddNumber) {
  EXPECT_THAT(of(parse(binary_of({0, 0, 0, 0, 0, 0}, {})), 2), IsEmpty());
  EXPECT_THAT(of(parse(binary_of({0, 0, 0, 0, 0, 1}, {6})), 4), ElementsAre(6));
}

TEST_F(BinaryTables, ThatAreTruncatedOrTooLongAreRefused) {
  for (std::size_t size = 0; size < good_.size(); ++size)
    EXPECT_THAT(error_in(good_.substr(0, size)), HasSubstr("lex.bin: ")) << size;
  EXPECT_THAT(error_in(good_ + std::string(4, '\0')), HasSubstr("which is not what its 6 offsets"));
}

TEST_F(BinaryTables, ThatAreDamagedAreRefused) {
  // The checksum is of whole words of 64 bits: an odd number of entries leaves out the last one.
  std::string other = binary_of({0, 0, 1, 3, 3, 5}, {1, 2, 5, 0, 4});
  replace_at(other, other.size() - 4, std::uint32_t{6});
  EXPECT_THAT(of(parse(other), 4), ElementsAre(0, 6));
  other = good_;
  replace_at(other, 96, std::uint32_t{0});
  EXPECT_THAT(error_in(other), HasSubstr("its checksum is"));
  EXPECT_NO_THROW(parse(other, false));
  other = good_;
  replace_at(other, 0, std::uint64_t{1});
  EXPECT_FALSE(is_lexical_binary(other));
  EXPECT_THAT(error_in(other), HasSubstr("no binary shortlist"));
  replace_at(other, 0, std::int32_t{1234567890});
  EXPECT_THAT(error_in(other), HasSubstr("Quicksand"));
  other = good_;
  replace_at(other, 16, ~std::uint64_t{0});
  EXPECT_THAT(error_in(other), HasSubstr("most frequent words"));
  for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{5}, ~std::uint64_t{0}})
    for (const std::size_t at : {32, 40}) {
      other = good_;
      replace_at(other, at, count);
      EXPECT_THAT(error_in(other), HasSubstr("lex.bin: it has")) << count;
    }
}

TEST_F(BinaryTables, WithImpossibleOffsetsAreRefused) {
  for (const auto& offsets : std::vector<std::vector<std::uint64_t>>{
           {0, 2, 1, 3, 3, 6}, {0, 0, 1, 3, 3, 5}, {0, 9, 9, 9, 9, 9}, {0, 0, 0, 0, 0, ~0ull}})
    EXPECT_THAT(error_in(binary_of(offsets, {1, 2, 5, 0, 4, 6})), HasSubstr("its offsets"));
}

TEST_F(BinaryTables, OfOtherVocabulariesAreRefused) {
  EXPECT_THAT(error_in(binary_of({0, 0, 0, 0, 0, 0, 1}, {6})),
              HasSubstr("for 6 source words, but the vocabulary has 5"));
  EXPECT_THAT(error_in(binary_of({0, 0, 0, 0, 0, 1}, {7})),
              HasSubstr("target word 7, but the vocabulary has 7 words"));
  EXPECT_THAT(error_in(binary_of({0, 0, 0, 0, 0, 1}, {~0u})), HasSubstr("target word 4294967295"));
}

TEST_F(BinaryTables, MayEndBeforeTheVocabularyDoes) {
  const LexicalTable table = parse(binary_of({0, 0, 1, 3}, {1, 2, 5}));
  EXPECT_EQ(table.source_words(), 3u);
  EXPECT_THAT(of(table, 2), ElementsAre(2, 5));
  EXPECT_THAT(of(table, 3), IsEmpty());
  EXPECT_THAT(of(table, 4), IsEmpty());
  EXPECT_EQ(parse(binary_of({0}, {})).source_words(), 0u);
}

TEST_F(BinaryTables, AreOfTheVocabularyOfWhichAModelMayKnowFewerWords) {
  const auto known =
      parse_word_vocabulary("</s>\n<unk>\nthe\nhouse\ncat\n", "txt", "words.txt", {.limit = 3});
  const LexicalSides sides{*known, *target_};
  EXPECT_EQ(known->size(), 3);
  EXPECT_NO_THROW(parse_lexical_binary(good_, "lex.bin", sides));
  EXPECT_THAT(error_of([&] {
                parse_lexical_binary(binary_of({0, 0, 0, 0, 0, 0, 1}, {6}), "lex.bin", sides);
              }),
              HasSubstr("for 6 source words, but the vocabulary has 5"));
}

TEST_F(BinaryTables, AreKnownByTheirFirstBytesOrTheirName) {
  const auto load = [&](const std::string& name, const std::string& bytes) {
    const std::string path = temp_path(name);
    write_file_atomically(path, bytes);
    return load_lexical_table({.path = path, .limits = {.first = 9}}, sides_);
  };
  EXPECT_EQ(load("shortlist.s2t", good_).first, 3);
  EXPECT_EQ(load("shortlist.s2t", "das the 1\n").first, 9);
  EXPECT_THAT(error_of([&] { load("shortlist.bin", "das the 1\n"); }), HasSubstr("truncated"));
  EXPECT_THAT(error_of([&] { load_lexical_table({.path = "/no/such"}, sides_); }),
              HasSubstr("/no/such"));
}

// --- Lists ---

LexicalTable small_table(std::int64_t first) {
  return {.first = first, .begin = {0, 1, 3, 4}, .words = {30, 20, 21, 99}};
}

TEST(Shortlist, HasFrequentWordsTranslationsAndTheEnd) {
  const Shortlist list(small_table(2), 40, 7, false);
  // 99 is not in the vocabulary; 2 and 3 make a multiple of 8.
  EXPECT_THAT(list.words_for(std::vector<WordId>{0, 1, 2, 1, 17}),
              ElementsAre(0, 1, 2, 3, 7, 20, 21, 30));
  EXPECT_THAT(list.words_for({}), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(Shortlist, HasTheSourceWordsWhereBothSidesAreOne) {
  const Shortlist list(small_table(0), 40, 0, true);
  EXPECT_THAT(list.words_for(std::vector<WordId>{1, 35, 50, -1}),
              ElementsAre(0, 1, 2, 3, 4, 20, 21, 35));
}

TEST(Shortlist, NeedsNotBeFilledUpWhenThereAreNoMoreWords) {
  EXPECT_THAT(Shortlist(small_table(2), 5, 0, false).words_for(std::vector<WordId>{0}),
              ElementsAre(0, 1, 2, 3, 4));
  std::vector<WordId> all(21);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(Shortlist(small_table(1000), 21, 0, false).words_for(std::vector<WordId>{0}), all);
}

}  // namespace
}  // namespace fuselage::shortlist_test
