#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <ctime>
#include <random>

#include "text/pages/page.h"
#include "text/split.h"

namespace fuselage::html_page_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::unique_ptr<const Page> read(std::string document) {
  static const SentenceSplitter splitter("en");
  return read_html_page(std::move(document), {splitter});
}

std::vector<std::string> sentences(std::string document) {
  return read(std::move(document))->sentences();
}

/// The words of a text with spaces between them.
std::vector<TextSpan> words(const std::string& text) {
  std::vector<TextSpan> spans;
  for_each_word(text, [&](std::string_view word) {
    const auto begin = static_cast<std::size_t>(word.data() - text.data());
    spans.push_back({begin, begin + word.size()});
  });
  return spans;
}

/// A translation whose word t is word order[t] of the sentence.
TranslatedSentence reordered(const std::string& sentence, const std::vector<std::size_t>& order) {
  TranslatedSentence result;
  result.alignment.source = words(sentence);
  for (const std::size_t s : order) {
    if (!result.text.empty()) result.text += ' ';
    result.text += result.alignment.source.at(s).of(sentence);
    result.alignment.weights.emplace_back(result.alignment.source.size(), 0.F)[s] = 1;
  }
  result.alignment.target = words(result.text);
  return result;
}

/// The document, whose only sentence has its words in another order.
std::string in_order(std::string document, const std::vector<std::size_t>& order) {
  const auto page = read(std::move(document));
  EXPECT_EQ(page->sentences().size(), 1u);
  return page->joined(std::vector{reordered(page->sentences().at(0), order)});
}

std::string same(const Page& page) {
  std::vector<TranslatedSentence> translations;
  for (const std::string& sentence : page.sentences()) translations.push_back({sentence});
  return page.joined(translations);
}

/// The document with each sentence in capital letters, without alignments.
std::string loud(std::string document) {
  const auto page = read(std::move(document));
  std::vector<TranslatedSentence> translations;
  for (std::string sentence : page->sentences()) {
    for (char& byte : sentence)
      if (byte >= 'a' && byte <= 'z') byte = static_cast<char>(byte - 'a' + 'A');
    translations.push_back({sentence});
  }
  return page->joined(translations);
}

TEST(HtmlPage, HasTheTextBetweenBlocksAsSentences) {
  EXPECT_THAT(
      sentences("<!DOCTYPE html><html><head><title>A title</title></head><body>\n<h1>Head</h1>"
                "<p>One. Two\n three.<p>Four<br>Five<ul><li>Six<li>Seven</ul><hr/></body>"),
      ElementsAre("A title", "Head", "One.", "Two three.", "Four", "Five", "Six", "Seven"));
  EXPECT_THAT(sentences("<pre>One line\nand another</pre>then\none"),
              ElementsAre("One line", "and another", "then one"));
  EXPECT_THAT(sentences("<p>1.5</p> &mdash; <p> </p>"), IsEmpty());
}

TEST(HtmlPage, ReadsThroughInlineTags) {
  EXPECT_THAT(
      sentences("<p>A <b>bold</b> <i>wo</i>rd.<!-- no --> Next <a href='x>y'>link</a>.</p>"),
      ElementsAre("A bold word.", "Next link."));
  EXPECT_THAT(sentences("<a>Home</a><a>News</a> un<em>happy</em> so<wbr>ft&shy;ly"),
              ElementsAre("Home News unhappy softly"));
}

TEST(HtmlPage, LeavesWhatIsNoText) {
  EXPECT_THAT(
      sentences("<script>if (a<b) x('</p>')</script><style>p{}</style><textarea>text</textarea>"
                "<svg><text>t</text></svg><iframe>f</iframe>"),
      IsEmpty());
  EXPECT_THAT(sentences("Call <code>foo</code> now, <span translate=no>My Name</span> and "
                        "<b class='x NoTranslate'>This <b>too</b> here</b> end."),
              ElementsAre("Call now, and end."));
  EXPECT_THAT(sentences("<div translate='no'>a<div>b</div>c</div>d <code translate=yes>e</code>"),
              ElementsAre("d e"));
  EXPECT_THAT(sentences("<script><!-- <script> </script> x --> y</script>z"), ElementsAre("z"));
}

TEST(HtmlPage, FindsTheEndOfElementsWithoutEndTags) {
  EXPECT_THAT(sentences("<p translate=no>a<p>b"), ElementsAre("b"));
  EXPECT_THAT(sentences("<ul><li translate=no>a<ul><li>b</ul><li>c</ul>d"), ElementsAre("c", "d"));
  EXPECT_THAT(sentences("<table><tr><td translate=no>a<td>b<tr><td>c</table>"),
              ElementsAre("b", "c"));
  EXPECT_THAT(sentences("<p>a <code>b</p><p>c"), ElementsAre("a", "c"));
  EXPECT_THAT(sentences("<p>a <svg><path><p>c"), ElementsAre("a")) << "as a whole";
}

TEST(HtmlPage, ReadsCharacterReferences) {
  EXPECT_THAT(
      sentences(
          "AT&amp;T &lt;b&gt; caf&eacute; caf&#233; caf&#xE9; &copy 5&nbsp;kg &#150; x&notit;"),
      ElementsAre("AT&T <b> café café café © 5 kg – x"));
  EXPECT_THAT(sentences("a & b &; &x &#; &#x; < c <3"), ElementsAre("a & b &; &x &#; &#x; < c <3"));
  EXPECT_THAT(sentences("x &NotEqualTilde; y"), ElementsAre("x y"));
  EXPECT_THAT(sentences("&AMP; &LT &apos; a&#0;&#xD800;&#x110000;&#99999999999999;b"),
              ElementsAre("& < ' a\uFFFD\uFFFD\uFFFD\uFFFDb"));
}

TEST(HtmlPage, WritesCharactersAsReferences) {
  EXPECT_EQ(loud("<p title='a&b'>x &lt; y &amp z &gt; a&nbsp;b</p>"),
            "<p title='a&b'>X &lt; Y &amp; Z &gt; A B</p>");
  const auto page = read("a");
  EXPECT_EQ(page->joined(std::vector<TranslatedSentence>{{"<b>\u00A0&\"é"}}),
            "&lt;b&gt;&nbsp;&amp;\"é");
}

TEST(HtmlPage, KeepsTagsWithTheirWords) {
  EXPECT_EQ(in_order("<p>a <b>red</b> house</p>", {0, 2, 1}), "<p>a house <b>red</b></p>");
  EXPECT_EQ(in_order("<b>red</b> house", {1, 0}), "house <b>red</b>");
  EXPECT_EQ(in_order("one <i>two <b>three</b></i> four", {3, 2, 1, 0}),
            "four <i><b>three</b> two</i> one");
  EXPECT_EQ(in_order("<a href=x>one</a> <i>two</i> x", {1, 0, 2}),
            "<i>two</i> <a href=x>one</a> x");
  EXPECT_EQ(in_order("a <b>lost</b> word", {0, 2}), "a <b></b>word");
  EXPECT_EQ(in_order("x <b><i><u>two words</u></i></b>", {2, 1, 0}),
            "<b><i><u>words two</u></i></b> x");
}

TEST(HtmlPage, KeepsAnElementInOnePlace) {
  EXPECT_EQ(in_order("<b>one two three</b> four five", {0, 3, 1, 2, 4}),
            "one four <b>two three</b> five");
  EXPECT_EQ(in_order("<b>one two</b> three <i>four five</i> x", {0, 3, 1, 4, 2, 5}).find("<b></b>"),
            std::string::npos);
}

TEST(HtmlPage, KeepsPointsBetweenTheirWords) {
  EXPECT_EQ(in_order("one <img src=a> two three", {0, 2, 1}), "one <img src=a> three two");
  EXPECT_EQ(in_order("one<!-- c --> two three", {0, 2, 1}), "one<!-- c --> three two");
  EXPECT_EQ(in_order("call <code>f()</code> now please", {0, 2, 1}),
            "call <code>f()</code> please now");
  EXPECT_EQ(in_order("see <code>f()</code>, x", {0, 1, 2}), "see <code>f()</code>, x");
}

/// The page with one sentence, which is translated word by word.
std::string with_translation(const char* document, const char* translation) {
  return read(document)->joined(std::vector<TranslatedSentence>{{translation}});
}

TEST(HtmlPage, KeepsPointsThatAreWordsFromOtherWords) {
  const auto expect = [](const char* document, const char* translation, const char* expected) {
    EXPECT_EQ(with_translation(document, translation), expected);
  };
  expect("<p>Where is <i translate=no>Rom</i> now?</p>", "Wo ist jetzt?",
         "<p>Wo ist <i translate=no>Rom</i> jetzt?</p>");
  expect("You know <code>x</code>?", "Kennen Sie?", "Kennen Sie <code>x</code>?");
  expect("My name is <i class=notranslate>Tom</i>.", "Ich heiße.",
         "Ich heiße <i class=notranslate>Tom</i>.");
  expect("Write <code>x</code>, <code>y</code> or <code>z</code> now.", "Jetzt schreib.",
         "Jetzt <code>x</code> <code>y</code> schreib <code>z</code>.");
  expect("It is a (<code>x</code>) b.", "Es ist a () b.", "Es ist a (<code>x</code>) b.");
  expect("un<code>x</code>y is <i>it</i>.", "un y ist es.", "un<code>x</code> y ist <i>es</i>.");
  expect("We see <code>x</code> here.", "我们这里。", "我们<code>x</code>这里。");
  expect("我们<code>x</code>这里。", "We here.", "We <code>x</code> here.");
  expect("Where is “<code>x</code>” now?", "Wo jetzt?", "Wo <code>x</code> jetzt?");
  for (const char* const space : {"&#8201;", " &nbsp;", "&#x202F;", " \n\t\n"})
    expect(("We see" + std::string(space) + "<code>x</code>" + space + "here.").c_str(),
           "Wir hier.", "Wir <code>x</code> hier.");
  expect("I see <b><code>x</code></b><code>y</code>.", "Ich sehe.",
         "Ich sehe<b> <code>x</code></b> <code>y</code>.");
}

TEST(HtmlPage, DividesNoWordByAnElementWithoutText) {
  EXPECT_THAT(read("super<wbr translate=no>market")->sentences(), ElementsAre("supermarket"));
  EXPECT_THAT(read("super<i translate=no>x</i>market")->sentences(), ElementsAre("super market"));
}

TEST(HtmlPage, DividesElementsOfSeveralSentences) {
  const auto page = read("<p>One <b>two. Three</b> four</p>");
  ASSERT_THAT(page->sentences(), ElementsAre("One two.", "Three four"));
  EXPECT_EQ(
      page->joined(std::vector{reordered("One two.", {1, 0}), reordered("Three four", {1, 0})}),
      "<p><b>two. One four Three</b></p>");
  EXPECT_EQ(loud("x </i> y <b> z"), "X</i> Y <b>Z");
}

TEST(HtmlPage, PlacesMarkupWithoutAlignmentAtTheSamePart) {
  EXPECT_EQ(loud("one <b>two</b> three <i>four</i> five six"),
            "ONE <b>TWO</b> THREE <i>FOUR</i> FIVE SIX");
}

const char* const kDocuments[] = {
    "",
    "plain text & more < less. Two  sentences\r\n.",
    "<p>A <b>b</b>.  <i>C d</i> e!\n<br>f&nbsp;g&#160;&copy h&hellip;</p>",
    "<p>un<b>clo<i>sed</b> mis</i>nested</p></b> x <b",
    "<a href='",
    "<a b=c/>d<e/>f</>g</ >h<!x>i<?y?>j<!-->k<!--->l<!---- -->m--!>n",
    "<![CDATA[ x > y ]]> <svg><![CDATA[ x > y ]]><b>z</b></svg> w",
    "<title>a <b>&lt; c</title><textarea>x</b></textarea><script>a</script",
    "<plaintext>a<b>c",
    "<ul><li translate=no>a<li>b</ul><td>c<code>d</td>e</code>f",
    "\xFF\xC3 a \x80&#xFF;b\xF0\x9F <\xFF>",
    "&#x;&;&&amp&ampx;&notit;&unknown; a&AMP",
    "<math><mi>x</mi><annotation-xml><p>y</p></annotation-xml></math>z<svg/>a<math>",
    "<ruby>漢<rp>(</rp><rt>kan</rt></ruby>字。<b>です。</b>はい",
    "<pre>a\n\n b\tc\n</pre>\n\na\u00AD\u200Bb c<wbr>d"};

TEST(HtmlPage, StaysTheSameIfNothingIsTranslated) {
  for (const std::string document : kDocuments) EXPECT_EQ(same(*read(document)), document);
}

/// A document of random pieces.
std::string random_document(std::mt19937& random) {
  static const char* const pieces[] = {"<b>",
                                       "</b>",
                                       "<i class=x>",
                                       "</i>",
                                       "<p>",
                                       "</p>",
                                       "<img a='>'>",
                                       "<!-- c -->",
                                       "<code>",
                                       "</code>",
                                       "<a href=\"y\">",
                                       "</a>",
                                       "<td>",
                                       "</td>",
                                       "<li>",
                                       "<script>",
                                       "</script>",
                                       "<div translate=no>",
                                       "</div>",
                                       "&amp;",
                                       "&nbsp;",
                                       "&x;",
                                       "&",
                                       "one ",
                                       "two ",
                                       "three",
                                       ". ",
                                       "Four",
                                       " ",
                                       "\n",
                                       "\u00AD",
                                       "！",
                                       "猫"};
  std::string document;
  for (int i = 0; i < 30; ++i) document += pieces[random() % std::size(pieces)];
  return document;
}

/// The document without text: all tags and comments.
std::vector<std::string> tags_of(std::string_view document) {
  std::vector<std::string> tags;
  for (std::size_t at = 0; (at = document.find('<', at)) != std::string_view::npos;) {
    const std::size_t end = std::min(document.find('>', at), document.size() - 1);
    tags.emplace_back(document.substr(at, end + 1 - at));
    ++at;
  }
  std::ranges::sort(tags);
  return tags;
}

TEST(HtmlPage, KeepsAllMarkupInAnyOrderOfWords) {
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    const std::string document = random_document(random);
    const auto page = read(document);
    EXPECT_EQ(same(*page), document);
    std::vector<TranslatedSentence> translations;
    for (const std::string& sentence : page->sentences()) {
      std::vector<std::size_t> order(words(sentence).size());
      for (std::size_t& word : order) word = random() % order.size();
      translations.push_back(reordered(sentence, order));
      if (i % 4 == 0) translations.back().alignment = {};
      if (i % 7 == 0) translations.back() = {};
    }
    EXPECT_EQ(tags_of(page->joined(translations)), tags_of(document)) << document;
  }
}

/// Of this thread, so that other programs do not count.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

TEST(HtmlPage, TakesLinearTime) {
  const auto seconds = [](std::string_view part, std::size_t count) {
    std::string document = "a ";
    for (std::size_t i = 0; i < count; ++i) document += part;
    document += " b";
    const double start = processor_seconds();
    const auto page = read(document);
    std::vector<TranslatedSentence> translations(page->sentences().size(),
                                                 TranslatedSentence{"x y"});
    EXPECT_GE(page->joined(translations).size(), 2u);
    return processor_seconds() - start;
  };
  for (const char* part : {"<",           "<b>",      "</b>",
                           "<b x='",      "<!--",     "<!-",
                           "&",           "&#",       "&amp",
                           "<p>",         "<code>",   "</code>",
                           "<svg>",       "<script>", "<script><!--<script>",
                           "</",          "<b>w ",    "<li translate=no>",
                           "<a></a>",     "w</i>",    "<img>w",
                           "<b><img>",    "<pre>\n",  "<title>",
                           "<![CDATA[",   "<b></i>",  "<ul translate=no><li>",
                           "w <i>w</i>. "}) {
    const double ratio = seconds(part, 200'000) / (seconds(part, 20'000) + 0.002);
    EXPECT_LT(ratio, 40) << part;
  }
}

TEST(HtmlPage, TakesLinearTimeForManyNames) {
  const auto seconds = [](std::size_t count) {
    std::string document;
    for (std::size_t i = 0; i < count; ++i) document += fmt::format("<x{}>", i);
    for (std::size_t i = 0; i < count; ++i) document += "<p>a";
    const double start = processor_seconds();
    EXPECT_EQ(same(*read(document)), document);
    return processor_seconds() - start;
  };
  EXPECT_LT(seconds(200'000) / (seconds(20'000) + 0.002), 40);
}

}  // namespace
}  // namespace fuselage::html_page_test
