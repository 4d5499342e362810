#include "text/words/flat_mapping.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

constexpr WordId kLargest = 10'000'000;

using Pairs = std::vector<std::pair<WordId, std::string>>;

Pairs pairs_of(const std::vector<WordEntry>& entries) {
  Pairs pairs;
  for (const WordEntry& entry : entries) pairs.emplace_back(entry.id, entry.word);
  return pairs;
}

/// What the YAML parser reads: the comment is for it alone, and has no meaning.
Pairs by_yaml_parser(const std::string& text) {
  const std::string commented = text + (text.ends_with('\n') ? "#\n" : "\n#\n");
  EXPECT_FALSE(parse_flat_mapping(commented, kLargest));
  return pairs_of(parse_word_mapping(commented, "test"));
}

/// Whether the text is read here; then the YAML parser must read the same.
bool reads_as_yaml_does(const std::string& text) {
  const auto entries = parse_flat_mapping(text, kLargest);
  if (!entries) return false;
  try {
    EXPECT_EQ(pairs_of(*entries), by_yaml_parser(text)) << ::testing::PrintToString(text);
  } catch (const Error& error) {
    ADD_FAILURE() << ::testing::PrintToString(text) << ": " << error.what();
  }
  return true;
}

TEST(FlatMapping, ReadsTheLinesOfVocabularies) {
  for (const std::string line :
       {"</s>: 0", "▁the: 12",   "~: 1",     "null: 2",     "true: 3",     "1990: 4",
        "-: 1",    "--: 1",      "...: 1",   "---: 2",      "-5: 1",       "?: 2",
        "a:b: 3",  "a::  4",     "it's: 5",  "a#: 6",       "a\"b: 7",     "<<: 8",
        "=: 9",    "\"\": 1",    "\",\": 1", "\"\\\"\": 2", "\"\\\\\": 3", "'it''s': 4",
        "'\"': 5", "'null': 6",  "\":\": 7", "'#': 8",      "😀: 9",        "a\\b: 10",
        "a: 007",  "a: 10000000"}) {
    EXPECT_TRUE(reads_as_yaml_does(line)) << line;
    EXPECT_TRUE(reads_as_yaml_does("</s>: 0\n" + line + "\n<unk>: 1\n")) << line;
  }
}

TEST(FlatMapping, LeavesOtherLinesToTheYamlParser) {
  for (const std::string line :
       {"",           " a: 1",       "a b: 1",      "a: 1 ",     "a: 1 # b",  "a: b",
        "a: -1",      "a: 10000001", "a: 0x1",      "a: 1\r",    "a : 1",     "a:1",
        "a:\t1",      "a",           "a:",          "a: ",       ": 1",       ":a: 1",
        "# a",        "#a: 1",       "? a",         "- a",       "&a b: 1",   "*a : 1",
        "!a: 1",      "|: 1",        "@a: 1",       "`a: 1",     "%a: 1",     "{a: 1",
        "[a: 1",      ",: 1",        "\"a: 1",      "\"a\"b: 1", "\"a\" : 1", "\"a\":1",
        "\"\\n\": 1", "\"\\'\": 1",  "'a: 1",       "'a'b: 1",   "'a b': 1",  "a\4: 1",
        "\x7f: 1",    "\xFF\xFE: 1", "\"a\": \"1\""})
    EXPECT_FALSE(parse_flat_mapping(line, kLargest) && !line.empty()) << line;
  EXPECT_FALSE(parse_flat_mapping("", kLargest));
  EXPECT_FALSE(parse_flat_mapping("a: 1\n\nb: 2\n", kLargest));
  EXPECT_FALSE(
      parse_flat_mapping("\xEF\xBB\xBF"
                         "a: 1\n",
                         kLargest));
  EXPECT_FALSE(parse_flat_mapping(std::string(1025, 'k') + ": 1\n", kLargest));
  EXPECT_TRUE(reads_as_yaml_does(std::string(1000, 'k') + ": 1\n"));
}

TEST(FlatMapping, ReadsWhatTheYamlParserReads) {
  const std::vector<std::string> pieces = {
      "a",        "b",    "-",  "?",  ":",     ": ",    " ",      "#",        " #",
      "'",        "''",   "\"", "\\", "\n",    ",",     "[",      "]",        "{",
      "}",        "&",    "*",  "!",  "|",     ">",     "%",      "@",        "`",
      "~",        ".",    "--", "..", "<<",    "null",  "\xC3",   "ä",        "\xE2\x80\xA8",
      "\xC2\x85", "1",    "0",  "9",  ": 1\n", ": 2\n", ": 33\n", "'a': 4\n", "\"b\": 5\n",
      "\xF7",     "\x80", "=",  "\t"};
  std::mt19937 engine(1);
  std::uniform_int_distribution<std::size_t> piece(0, pieces.size() - 1), lines(1, 3), parts(0, 3);
  int read = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string text;
    for (std::size_t line = lines(engine); line > 0; --line) {
      for (std::size_t part = parts(engine); part > 0; --part) text += pieces[piece(engine)];
      text += ": 7\n";
    }
    read += reads_as_yaml_does(text) ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(read, 20'000);
}

TEST(FlatMapping, ReadsTheReferenceFile) {
  EXPECT_TRUE(reads_as_yaml_does(read_file(FUSELAGE_TEST_DATA "/vocab.yml", 1 << 20)));
}

}  // namespace
}  // namespace fuselage
