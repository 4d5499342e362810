// Parts of lines that come through the bundled model as they are.

#include "text/placeholders/placeholders.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "fuselage/base/error.h"
#include "fuselage/decoding/page_translator.h"
#include "fuselage/decoding/translator.h"
#include "fuselage/models/bundled_model.h"
#include "tests/decoding/support.h"
#include "text/pages/page.h"
#include "text/pages/sentence_splitter.h"

namespace fuselage::placeholders_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

const std::vector<std::string> kLines{"It costs 5 €.", "Tom is here.", "I love you 😀",
                                      "Write to tom@example.org."};

Translator bundled(TranslatorOptions options = {}) {
  return Translator(find_bundled_model(), std::move(options));
}

/// The places of tokens, as many as the alignment and the number of tokens have.
TokenSpans spans_of(const Translator& translator, const std::string& line,
                    const Translation& translation) {
  TokenSpans spans = translator.token_spans(line, translation.n_best.front());
  const auto& alignment = translation.n_best.front().hypothesis.alignment;
  EXPECT_EQ(spans.target.size() + 1, alignment.size());
  EXPECT_EQ(spans.source.size() + 1, alignment.front().size());
  EXPECT_EQ(spans.source.size() + 1, translator.count_tokens(line));
  return spans;
}

TEST(Placeholders, BringPartsOfLinesThrough) {
  for (const std::size_t threads : {1, 2}) {
    const std::vector<Translation> found =
        bundled({.n_best = 3, .threads = threads}).translate(kLines);
    EXPECT_EQ(found[0].text(), "Es kostet 5 €.");
    EXPECT_EQ(found[1].text(), "Tom ist hier.");
    EXPECT_EQ(found[2].text(), "Ich liebe dich 😀");
    EXPECT_THAT(found[3].text(), HasSubstr("tom@example.org"));
    for (const Translation& translation : found)
      for (const TranslatedText& each : translation.n_best)
        EXPECT_THAT(each.text, Not(HasSubstr("XYZ")));
  }
}

TEST(Placeholders, LeaveOtherLinesAsTheyAre) {
  const Translation with = bundled().translate(kLines[1]),
                    without =
                        bundled({.placeholders = std::vector<std::string>()}).translate(kLines[1]);
  EXPECT_EQ(with.text(), without.text());
  EXPECT_EQ(with.n_best.front().hypothesis.score, without.n_best.front().hypothesis.score);
}

TEST(Placeholders, MayBeOthersOrNone) {
  EXPECT_THAT(bundled({.placeholders = std::vector<std::string>()}).translate(kLines[0]).text(),
              Not(HasSubstr("€")));
  const std::vector<std::string> other{"Tom"};
  EXPECT_EQ(bundled({.placeholders = other}).translate(kLines[2]).text(), "Ich liebe dich 😀");
  TranslatorOptions options;
  options.vocabularies.paths = support::vocabularies();
  options.placeholders = std::vector<std::string>{"▁Tom", "xyzzy"};
  EXPECT_THAT([&] { Translator(load_model(support::small_model()), options); },
              ThrowsMessage<Error>(
                  HasSubstr("the placeholder 'xyzzy' is unknown to the model's vocabulary")));
}

TEST(Placeholders, AreOfRawTextAndTheVocabulariesOfTheModel) {
  TranslatorOptions pieces;
  pieces.vocabularies.sentencepiece_encode = false;
  EXPECT_EQ(bundled(pieces).translate("▁Tom ▁is ▁here .").text(), "Tom ist hier.");
  TranslatorOptions others;
  others.vocabularies.paths.assign(2, find_bundled_model() + "/vocab.spm");
  EXPECT_THAT(bundled(others).translate(kLines[0]).text(), Not(HasSubstr("€")));
}

TEST(Placeholders, HaveThePlacesOfTheirTexts) {
  const Translator translator = bundled({.n_best = 1, .alignment = true});
  const std::string line = "My friend 😀 has 5€.";
  const Translation translation = translator.translate(line);
  const TokenSpans spans = spans_of(translator, line, translation);
  EXPECT_EQ(spans.target.back().end, translation.text().size());
  const auto has_part = [](const std::string& text, const std::vector<TokenSpan>& tokens,
                           const std::string& part) {
    const std::size_t at = text.find(part);
    return at != std::string::npos &&
           std::ranges::find(tokens, TokenSpan{at, at + part.size()}) != tokens.end();
  };
  for (const char* part : {"😀", "€", "friend", "."})
    EXPECT_TRUE(has_part(line, spans.source, part)) << part;
  for (const char* part : {"😀", "€", "Freund", "."})
    EXPECT_TRUE(has_part(translation.text(), spans.target, part)) << part << translation.text();
}

TEST(Placeholders, HavePlacesInRepairedLines) {
  const Translator translator = bundled({.n_best = 1, .alignment = true});
  const std::string line = "It is\xFF 5 €.";
  const Translation translation = translator.translate(line);
  const TokenSpans spans = spans_of(translator, line, translation);
  EXPECT_EQ(spans.source.back().end, line.size());
}

// Each address is a placeholder alone, but there are few of them: together they are longer.
TEST(Placeholders, DoNotMakePartsOfSentencesTooLong) {
  std::string line;
  for (int i = 0; i < 25; ++i)
    line += fmt::format("https://docs.example.org/en/q7x4k9z2/w8p3v5j1/x.html?k={} ", i);
  const Translator translator = bundled();
  const auto count = [&](std::string_view text) { return translator.count_tokens(text); };
  const SentenceSplitter splitter("en");
  std::size_t addresses = 0;
  for (const TextSpan& part : plain_sentences(line, {splitter, kMaxSentenceTokens, count})) {
    EXPECT_LE(count(part.of(line)), kMaxSentenceTokens) << part.of(line);
    for (std::size_t at = part.begin; at < part.end; ++at)
      if (std::string_view(line).substr(at).starts_with("https")) ++addresses;
  }
  EXPECT_EQ(addresses, 25u);
}

TEST(Placeholders, KeepTagsOfPagesWithTheirTexts) {
  const Translator translator = bundled({.n_best = 1, .alignment = true});
  const PageTranslator pages(translator, {.kind = PageKind::html});
  EXPECT_THAT(pages.translate("<p>My <b>friend</b> is here <i>😀</i>.</p>"),
              AllOf(HasSubstr("<b>Freund</b>"), HasSubstr("<i>😀</i>")));
}

TEST(Placeholders, GoWithPrefixes) {
  const Translation translation =
      bundled({.guided = true}).translate(kLines[0], {.prefix = "Das kostet"});
  EXPECT_THAT(translation.text(), AllOf(StartsWith("Das kostet"), HasSubstr("€")));
}

TEST(Placeholders, AreNotWordsOfPrefixesAndTerms) {
  const Translator translator = bundled({.guided = true});
  EXPECT_THAT(translator.translate("5 € is enough.", {.prefix = "XYZ sagt:"}).text(),
              StartsWith("XYZ sagt:"));
  EXPECT_THAT(translator.translate(kLines[0], {.terms = {{"XYZ"}}}).text(), HasSubstr("XYZ"));
}

TEST(Placeholders, AreTermsWithTheirTexts) {
  const Translator translator = bundled({.guided = true});
  EXPECT_EQ(translator.translate(kLines[0], {.terms = {{"€"}}}).text(), "Es kostet 5 €.");
  EXPECT_EQ(translator.translate(kLines[2], {.terms = {{"😀"}}}).text(), "Ich liebe dich 😀");
}

TEST(Placeholders, HaveTheirPlacesBehindPrefixes) {
  const Translator translator = bundled({.n_best = 1, .alignment = true, .guided = true});
  const LineGuide guide{.prefix = "XYZ sagt:"};
  const Translation translation = translator.translate("5 € is enough.", guide);
  const TokenSpans spans =
      translator.token_spans("5 € is enough.", translation.n_best.front(), guide);
  const auto& alignment = translation.n_best.front().hypothesis.alignment;
  EXPECT_EQ(spans.source.size() + 1, alignment.front().size());
  const std::size_t at = translation.text().find("€");
  ASSERT_NE(at, std::string::npos);
  EXPECT_NE(std::ranges::find(spans.target, TokenSpan{at, at + 3}), spans.target.end());
}

TEST(Placeholders, AreInPrefixesWithTheirTexts) {
  const std::string text =
      bundled({.guided = true}).translate(kLines[0], {.prefix = "Es kostet 5 €"}).text();
  EXPECT_THAT(text, StartsWith("Es kostet 5 €"));
  EXPECT_EQ(text.find("€"), text.rfind("€")) << text;
}

TEST(Placeholders, ComeBackAsTranslationsOfTerms) {
  const support::TemporaryFolder folder;
  std::ofstream(folder / "terms.tsv") << "€\tEuro\tEuros\nŁukasz\tLukas\nhouse\tHaus\n";
  const Translator translator = bundled({.terminology = folder / "terms.tsv"});
  EXPECT_EQ(translator.translate(kLines[0]).text(), "Es kostet 5 Euro.");
  EXPECT_EQ(translator.translate("I know Łukasz and 😀.").text(), "Ich kenne Lukas und 😀.");
  EXPECT_THAT(translator.translate("Write to tom@house.org!").text(),
              AllOf(HasSubstr("tom@house.org"), Not(HasSubstr("Haus"))));
  // Normalization makes three words of the first character, and nothing of a line end.
  EXPECT_THAT(translator.translate("… My house is here 😀\n").text(),
              AllOf(HasSubstr("Haus"), HasSubstr("😀")));
}

}  // namespace
}  // namespace fuselage::placeholders_test
