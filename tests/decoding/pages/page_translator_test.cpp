// Texts and documents with the bundled model.

#include "fuselage/decoding/page_translator.h"

#include <gmock/gmock.h>

#include "fuselage/base/error.h"
#include "fuselage/decoding/pivot_translator.h"
#include "fuselage/models/bundled_model.h"
#include "tests/decoding/support.h"

namespace fuselage::page_translator_test {
namespace {

using namespace std::string_view_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TranslatorOptions aligned() {
  TranslatorOptions options;
  options.alignment = true;
  options.n_best = 1;
  return options;
}

const Translator& bundled() {
  static const Translator translator(find_bundled_model(), aligned());
  return translator;
}

std::string line(const std::string& text) { return bundled().translate(text).text(); }

TEST(PageTranslator, TranslatesEachSentenceOfAText) {
  const PageTranslator pages(bundled());
  const std::string tom = line("Tom is my friend."), where = line("Where is the station?");
  EXPECT_EQ(pages.translate(
                "  Tom is my friend.  Where is\u00A0the station?\r\n\r\n\t***\nTom is my friend."),
            "  " + tom + "  " + where + "\r\n\r\n\t***\n" + tom);
  EXPECT_EQ(pages.translate(""), "");
  EXPECT_EQ(pages.translate("\n 12 \n"), "\n 12 \n");
}

TEST(PageTranslator, KnowsTheLanguageThatTheModelStates) {
  EXPECT_EQ(bundled().source_language(), "en");
  const std::string text = "Mr. Smith is my friend.";
  EXPECT_EQ(PageTranslator(bundled()).translate(text), line(text));
  EXPECT_NE(PageTranslator(bundled(), {.language = "ja"}).translate(text), line(text));
}

TEST(PageTranslator, ReadsWordsWithoutSoftHyphens) {
  EXPECT_EQ(PageTranslator(bundled()).translate("Where is the sta\u00ADtion?"),
            line("Where is the station?"));
}

TEST(PageTranslator, DividesLongSentences) {
  std::string text = "I know";
  for (int i = 0; i < 400; ++i) text += ", Tom is my friend";
  // The model gives few of many equal clauses, unless they are in sentences of their own.
  const std::string translation =
      PageTranslator(bundled(), {.max_tokens = 12}).translate(text + ".");
  std::size_t count = 0;
  for (std::size_t at = 0; (at = translation.find("Freund", at)) != std::string::npos; ++at)
    ++count;
  EXPECT_GE(count, 300u);
  EXPECT_THAT(
      [] { PageTranslator(bundled(), {.max_tokens = 2000}); },
      ThrowsMessage<Error>(HasSubstr("max_tokens is 2000, but sentences of more than max-length "
                                     "1000 are cut")));
}

TEST(PageTranslator, KeepsTagsWithTheirWords) {
  const PageTranslator pages(bundled(), {.kind = PageKind::html});
  const std::string translation = pages.translate(
      "<p class=\"x\">My <b>friend</b> is <i>here</i>.</p><!-- c --><script>x</script>");
  EXPECT_THAT(translation, ::testing::StartsWith("<p class=\"x\">"));
  EXPECT_THAT(translation, HasSubstr("<b>Freund</b>"));
  EXPECT_THAT(translation, HasSubstr("hier</i>"));
  EXPECT_THAT(translation, ::testing::EndsWith("</p><!-- c --><script>x</script>"));
}

/// A text of which the lines 3 and 5 have sentences with invalid bytes, and line 4 other ones.
constexpr std::string_view kInvalid =
    "Tom is my friend. Where is the station?\n\nTom\xFF is here. My\0 friend is here.\n"
    "\xFF\nMy \xC3 friend.\n"sv;

TEST(PageTranslator, NotesLinesOfTheText) {
  for (const bool two : {false, true}) {
    std::vector<std::string> notes;
    const PageOptions options{.log = [&](std::string_view note) { notes.emplace_back(note); }};
    const PageTranslator pages(bundled(), options, two ? &bundled() : nullptr);
    EXPECT_THAT(pages.translate(std::string(kInvalid)), HasSubstr("\n\xFF\n"))
        << "what is in no sentence stays";
    EXPECT_THAT(notes, ElementsAre(HasSubstr("2 lines were not valid UTF-8, or had NUL in them; "
                                             "U+FFFD took the place of what was invalid "
                                             "(lines 3, 5)")));
  }
}

TEST(PageTranslator, NotesTheLineWithinASentenceOfHtml) {
  std::vector<std::string> notes;
  const PageTranslator pages(bundled(), {.kind = PageKind::html, .log = [&](std::string_view note) {
                                           notes.emplace_back(note);
                                         }});
  pages.translate("<p>Tom\nis <i\nclass=x>here</i>.\n<p>Tom is\nmy \xFF friend.</p>\n");
  EXPECT_THAT(notes, ElementsAre(HasSubstr("(line 5)")));
  pages.translate("<p id='\xFF'>Tom is here.\n<!-- \xFF -->");
  EXPECT_EQ(notes.size(), 1u) << "what is copied is not lost";
}

TEST(PageTranslator, NotesLinesOfTheTextInTheLogOfTheTranslator) {
  std::vector<std::string> notes;
  TranslatorOptions options = aligned();
  options.log = [&](std::string_view note) { notes.emplace_back(note); };
  const Translator translator(find_bundled_model(), options);
  notes.clear();
  PageTranslator(translator).translate(std::string(kInvalid));
  EXPECT_THAT(notes, Contains(HasSubstr("(lines 3, 5)")));
}

TEST(PageTranslator, IsStrictWhenAsked) {
  TranslatorOptions options;
  options.strict = true;
  const Translator strict(find_bundled_model(), options);
  const PageTranslator pages(strict);
  EXPECT_THAT([&] { pages.translate(std::string(kInvalid)); },
              ThrowsMessage<Error>(HasSubstr("line 3 is not valid UTF-8, or has NUL in it")));
  EXPECT_THAT([&] { pages.translate("Tom.\n\n\xFF\n"); },
              ThrowsMessage<Error>(HasSubstr("line 3 is not valid UTF-8")))
      << "also what is in no sentence";
  EXPECT_EQ(pages.translate("12\n"), "12\n");
}

TEST(PageTranslator, NeedsNoAlignment) {
  const Translator plain(find_bundled_model());
  EXPECT_THAT(PageTranslator(plain, {.kind = PageKind::html}).translate("<b>Tom</b> is my friend."),
              HasSubstr("<b>Tom</b> ist mein"));
}

TEST(PageTranslator, RefusesOptionsOfLinesWithFields) {
  TranslatorOptions options;
  options.guided = options.force_decode = true;
  const Translator guided(find_bundled_model(), options);
  EXPECT_THAT([&] { PageTranslator pages(guided); },
              ThrowsMessage<Error>(HasSubstr("pages cannot go with force-decode")));
}

TEST(Translator, TellsThePlacesOfTokens) {
  const std::string source = "Tom  is my friend.";
  const Translation translation = bundled().translate(source);
  const TokenSpans spans = bundled().token_spans(source, translation.n_best.front());
  const auto& alignment = translation.n_best.front().hypothesis.alignment;
  EXPECT_EQ(spans.target.size() + 1, alignment.size());
  EXPECT_EQ(spans.source.size() + 1, alignment.front().size());
  EXPECT_EQ(spans.source.size() + 1, bundled().count_tokens(source));
  EXPECT_EQ(spans.source.front(), (TokenSpan{0, 3}));
  EXPECT_EQ(spans.source[1], (TokenSpan{5, 7}));
  EXPECT_EQ(spans.target.front(), (TokenSpan{0, 3}));
  EXPECT_EQ(spans.target.back().end, translation.text().size());
}

TEST(PivotTranslator, ComposesTranslationsAndAlignments) {
  // The model again in the place of one from German: it copies names.
  const PivotTranslator pivot(bundled(), bundled());
  const std::vector<std::string> lines = {"Tom is my friend.", ""};
  const std::vector<Translation> translations = pivot.translate(lines);
  ASSERT_EQ(translations.size(), 2u);
  EXPECT_EQ(translations[0].text(), line(line(lines[0])));
  const Hypothesis& best = translations[0].n_best.front().hypothesis;
  ASSERT_EQ(best.alignment.size(), best.words.size());
  for (const auto& row : best.alignment) {
    EXPECT_EQ(row.size(), bundled().count_tokens(lines[0]));
    float sum = 0;
    for (const float weight : row) sum += weight;
    EXPECT_NEAR(sum, 1, 0.01);
  }
  EXPECT_GT(best.alignment.front().front(), 0.5f) << "Tom";
  EXPECT_EQ(translations[1].text(), "");
}

TEST(PageTranslator, TranslatesByAnotherLanguage) {
  const PageTranslator pages(bundled(), {.kind = PageKind::html}, &bundled());
  EXPECT_THAT(pages.translate("<p><b>Tom</b> is my friend.</p>"), HasSubstr("<b>Tom</b>"));
}

}  // namespace
}  // namespace fuselage::page_translator_test
