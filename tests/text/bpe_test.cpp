#include "text/bpe/bpe.h"

#include <gmock/gmock.h>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::string split(const std::string& codes, const std::string& line,
                  const std::vector<std::string>& glossaries = {}) {
  return parse_bpe(codes, "codes.bpe", glossaries)->split(line);
}

/// The results in this file are those of subword-nmt 0.3.8.
constexpr const char* kCodes =
    "#version: 0.2\n"
    "l o\nlo w</w>\nlo w\ne r</w>\nn e\nne w\nlow er</w>\nx x\nü b\nüb er</w>\nxx x</w>\n";

TEST(Bpe, AppliesCodesInTheirOrder) {
  EXPECT_EQ(split(kCodes, "low lower newer lowest"), "low lower new@@ er low@@ e@@ s@@ t");
  EXPECT_EQ(split(kCodes, "  two  spaces "), "t@@ w@@ o s@@ p@@ a@@ c@@ e@@ s");
  EXPECT_EQ(split(kCodes, "über a ü"), "über a ü");
  EXPECT_EQ(split(kCodes, ""), "");
}

TEST(Bpe, MergesFromTheLeftWherePairsOverlap) {
  EXPECT_EQ(split(kCodes, "xxx xxxx xxxxx xxxxxx"), "xxx xx@@ x@@ x xx@@ xxx xx@@ xx@@ x@@ x");
}

TEST(Bpe, OfVersion1HasTheEndOfAWordAsASymbol) {
  const std::string codes = "l o\nlo w\nlow </w>\ne r\ner </w>\n";
  for (const std::string version : {"", "#version: 0.1\n"}) {
    EXPECT_EQ(split(version + codes, "low lower"), "low low@@ er");
    EXPECT_EQ(split(version + "r </w>\n" + codes, "lower er"), "low@@ e@@ r e@@ r");
  }
}

TEST(Bpe, IsUndone) {
  const auto bpe = parse_bpe(kCodes, "codes.bpe");
  for (const std::string line : {"low lower newer", "über x", ""})
    EXPECT_EQ(bpe->join(bpe->split(line)), line);
  EXPECT_EQ(bpe->join("a@@ b c@@"), "ab c");
  EXPECT_EQ(bpe->join("@@ a @@b"), "a @@b");
}

TEST(Bpe, LeavesGlossariesWhole) {
  EXPECT_EQ(split(kCodes, "1934USABUSA USA low", {"USA"}), "1@@ 9@@ 3@@ 4@@ USA@@ B@@ USA USA low");
  EXPECT_EQ(split(kCodes, "<tag/> a<b>lower", {"<[^>]*>"}), "<tag/> a@@ <b>@@ lower");
  EXPECT_EQ(split(kCodes, "lower ab12", {"[0-9]+", "lower"}), "lower a@@ b@@ 12");
  EXPECT_THAT([] { split(kCodes, "", {"("}); }, ThrowsMessage<Error>(HasSubstr("glossary '('")));
  EXPECT_THAT([] { split(kCodes, "", {"a*"}); }, ThrowsMessage<Error>(HasSubstr("empty text")));
  // Longer words are not searched, which takes stack.
  EXPECT_NO_THROW(split(kCodes, std::string(100'000, 'x'), {"(x|y)*z"}));
}

TEST(Bpe, TakesNearlyLinearTime) {
  std::string codes = "#version: 0.2\n", symbol = "a";
  for (int i = 0; i < 16; ++i) {
    codes += symbol + " " + symbol + "\n";
    symbol += symbol;
  }
  const std::string text = split(codes, std::string(std::size_t{1} << 17, 'a'));
  EXPECT_EQ(std::count(text.begin(), text.end(), ' '), 17);
}

TEST(Bpe, RefusesOtherFiles) {
  const auto expect_refused = [](const std::string& codes, const std::string& message) {
    EXPECT_THAT([&] { parse_bpe(codes, "codes.bpe"); },
                ThrowsMessage<Error>(AllOf(HasSubstr("codes.bpe"), HasSubstr(message))));
  };
  expect_refused("", "there are no codes");
  expect_refused("#version: 0.2\n", "there are no codes");
  expect_refused("#version: 0.3\na b\n", ":1: the version of the codes is '0.3'");
  expect_refused("#version:\na b\n", "codes.bpe:1");
  expect_refused("a b\nc\n", ":2: 1 symbols");
  expect_refused("a b c\n", ":1: 3 symbols");
  expect_refused("a b\n\nc d\n", ":2: 0 symbols");
}

TEST(Bpe, PassesOverWhatProgramsAddToTexts) {
  const std::string codes = "#version: 0.2\na b\nab c</w>\n";
  for (const std::string& added :
       {codes + "\n", codes + "\r\n \n", "\xEF\xBB\xBF" + codes, codes.substr(0, codes.size() - 1)})
    EXPECT_EQ(split(added, "abc abab"), split(codes, "abc abab")) << added;
}

}  // namespace
}  // namespace fuselage
