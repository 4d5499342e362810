// POST /v1/translate: lines with scores, as a whole and as events.

#include <gmock/gmock.h>

#include "tests/server/support.h"

namespace fuselage::lines_test {
namespace {

using support::RunningServer;
using support::TestJson;
using ::testing::HasSubstr;

class Lines : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server = new RunningServer; }
  static void TearDownTestSuite() { delete std::exchange(server, nullptr); }
  static inline RunningServer* server = nullptr;
};

TEST_F(Lines, HaveTranslationsWithScoresAndAlignments) {
  const auto answer = server->post("/v1/translate", {{"text", "Tom is my friend.\n\nI am tired."},
                                                     {"source", "en"},
                                                     {"target", "de"},
                                                     {"n_best", 2},
                                                     {"alignment", true},
                                                     {"word_scores", true}});
  ASSERT_EQ(answer.status, 200) << answer.json;
  const Translator translator(find_bundled_model(), {.n_best = 4});
  const Translation expected = translator.translate("Tom is my friend.");
  const TestJson& lines = answer.json["lines"];
  ASSERT_EQ(lines.size(), 3u);
  ASSERT_EQ(lines[0]["translations"].size(), 2u);
  EXPECT_EQ(lines[0]["translations"][0]["text"], expected.text());
  EXPECT_FLOAT_EQ(lines[0]["translations"][0]["score"].get<float>(),
                  expected.n_best[0].hypothesis.score);
  EXPECT_EQ(lines[0]["translations"][0]["word_scores"].size(),
            expected.n_best[0].hypothesis.words.size());
  EXPECT_FALSE(lines[0]["translations"][0]["alignment"].empty());
  EXPECT_EQ(lines[1]["notes"], TestJson({"empty"}));
  EXPECT_EQ(lines[2]["line"], 2);
}

TEST_F(Lines, FindTheirLanguageUnlessItIsStated) {
  const auto answer =
      server->post("/v1/translate", {{"text", {"Tom is my friend."}}, {"target", "de"}});
  EXPECT_EQ(answer.json["source"], "en");
  EXPECT_EQ(answer.json["lines"][0]["translations"].size(), 1u);
}

TEST_F(Lines, ComeAsEvents) {
  const TestJson body = {{"text", {"Tom is my friend.", "", "I am tired."}},
                         {"source", "en"},
                         {"target", "de"},
                         {"stream", true}};
  std::string events;
  const auto result = server->client().Post("/v1/translate", body.dump(), "application/json");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 200);
  EXPECT_EQ(result->get_header_value("Content-Type"), "text/event-stream");
  EXPECT_THAT(result->body,
              HasSubstr("event: begin\ndata: {\"source\":\"en\",\"target\":\"de\"}\n\n"));
  for (int line = 0; line < 3; ++line)
    EXPECT_THAT(result->body, HasSubstr("event: line\ndata: {\"line\":" + std::to_string(line)));
  EXPECT_TRUE(result->body.ends_with("event: end\ndata: {\"lines\":3}\n\n")) << result->body;
}

TEST_F(Lines, AreRefusedByField) {
  const auto refused = [&](const TestJson& body, const std::string& message) {
    const auto answer = server->post("/v1/translate", body);
    EXPECT_EQ(answer.status, 400);
    EXPECT_THAT(answer.json.value("error", ""), HasSubstr(message));
  };
  refused({{"target", "de"}}, "missing text parameter");
  refused({{"text", "a"}}, "missing target parameter");
  refused({{"text", "a"}, {"target", "de"}, {"n_best", 0}}, "'n_best' must be a whole number");
  refused({{"text", "a"}, {"target", "de"}, {"stream", "perhaps"}}, "'stream' must be true");
  refused({{"text", "a"}, {"target", "de"}, {"n_best", 1e300}}, "'n_best' must be a whole number");
  refused({{"text", "a"}, {"target", "de"}, {"nbest", 2}},
          "there is no parameter 'nbest'; did you mean 'n_best'?");
  refused({{"text", "a"}, {"target", "de"}, {"format", nullptr}}, "there is no parameter 'format'");
  const auto answer = server->post("/v1/translate?n_best=2", {{"text", "a"}, {"target", "de"}});
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.json.value("error", ""), HasSubstr("'n_best' is behind the path, but"));
}

/// A server whose lines may have prefixes, and a pair without a model of its own.
class GuidedLines : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    server = new RunningServer(
        {}, support::bundled_as({{"en", "de"}, {"de", "fr"}}, {.alignment = true, .guided = true}));
  }
  static void TearDownTestSuite() { delete std::exchange(server, nullptr); }
  static TestJson lines(TestJson body, const std::string& target = "de") {
    body["source"] = "en";
    body["target"] = target;
    const auto answer = server->post("/v1/translate", body);
    EXPECT_EQ(answer.status, 200) << answer.json;
    return answer.json.value("lines", TestJson::array());
  }
  static std::string refusal(TestJson body, const std::string& target = "de") {
    body["source"] = "en";
    body["target"] = target;
    const auto answer = server->post("/v1/translate", body);
    EXPECT_EQ(answer.status, 400) << answer.json;
    return answer.json.value("error", "");
  }
  static inline RunningServer* server = nullptr;
};

/// The characters of a text, which are not bytes.
std::string characters(const std::string& text, const TestJson& place) {
  std::vector<std::string> all;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) all.emplace_back();
    all.back() += c;
  }
  std::string part;
  for (std::size_t i = place[0]; i < place[1]; ++i) part += all.at(i);
  return part;
}

/// A text without what no token has: spaces and soft hyphens.
std::string without_blanks(std::string text) {
  std::erase(text, ' ');
  for (std::size_t at = 0; (at = text.find("\u00AD")) != std::string::npos;) text.erase(at, 2);
  return text;
}

TEST_F(GuidedLines, AreTheSentencesOfAText) {
  const std::string text =
      "\u20AC 5\n- Tom is  my fri\u00ADend. I am tired.\n\n123\nWhere is the station?";
  const TestJson found =
      lines({{"text", text}, {"sentences", true}, {"tokens", true}, {"alignment", true}});
  ASSERT_EQ(found.size(), 3u) << found;
  EXPECT_EQ(characters(text, found[0]["place"]), "Tom is  my fri\u00ADend.");
  EXPECT_EQ(characters(text, found[1]["place"]), "I am tired.");
  EXPECT_EQ(characters(text, found[2]["place"]), "Where is the station?");
  const Translator translator(find_bundled_model());
  EXPECT_EQ(found[0]["translations"][0]["text"], translator.translate("Tom is my friend.").text());
  EXPECT_EQ(found[1]["translations"][0]["text"], translator.translate("I am tired.").text());
  for (const TestJson& line : found) {
    // Together, tokens are the sentence.
    std::string joined;
    for (const TestJson& token : line["source_tokens"]) joined += characters(text, token);
    EXPECT_EQ(without_blanks(joined), without_blanks(characters(text, line["place"])));
    const TestJson& translation = line["translations"][0];
    const std::string translated = translation["text"];
    joined.clear();
    for (const TestJson& token : translation["tokens"]) joined += characters(translated, token);
    EXPECT_EQ(joined, without_blanks(translated));
    EXPECT_EQ(translation["alignment"].size(), translation["tokens"].size() + 1);
  }
  EXPECT_TRUE(lines({{"text", "123"}, {"sentences", true}}).empty());
}

TEST_F(GuidedLines, HaveTokensWithoutSentencesToo) {
  const TestJson found = lines({{"text", {"Tom is  here."}}, {"tokens", true}});
  EXPECT_EQ(found[0]["source_tokens"][0], TestJson({0, 3}));
  EXPECT_EQ(found[0]["translations"][0]["tokens"][0], TestJson({0, 3}));
  EXPECT_FALSE(found[0].contains("place"));
  const TestJson marked = lines({{"text", {"\uFEFFTom is here."}}, {"tokens", true}});
  EXPECT_EQ(marked[0]["source_tokens"][0], TestJson({1, 4})) << "behind a byte order mark";
}

TEST_F(GuidedLines, BeginWithTheirPrefixes) {
  const std::string source = "Tom is my friend.";
  const Translator translator(find_bundled_model(), {.n_best = 1, .guided = true});
  const TestJson found = lines({{"text", {source, source}}, {"prefix", {"Tom war", ""}}});
  ASSERT_EQ(found.size(), 2u);
  const std::string with = found[0]["translations"][0]["text"];
  EXPECT_TRUE(with.starts_with("Tom war")) << with;
  EXPECT_EQ(with, translator.translate(source, {.prefix = "Tom war"}).text());
  EXPECT_EQ(found[1]["translations"][0]["text"], translator.translate(source).text());
  const std::string one = lines({{"text", source}, {"prefix", "Er"}})[0]["translations"][0]["text"];
  EXPECT_TRUE(one.starts_with("Er ")) << one;
}

TEST_F(GuidedLines, OfALanguageWithoutTheTargetAreRefused) {
  const auto answer = server->post(
      "/v1/translate",
      {{"text", "Guten Tag, wie geht es Ihnen heute, mein lieber Freund?"}, {"target", "de"}});
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(
      answer.json.value("error", ""),
      HasSubstr("German (de) is not available as a target language from German (de), the language "
                "that the text seems to be in"));
}

TEST_F(GuidedLines, HaveTheirTokensBehindPrefixes) {
  // Places follow from the prefix: its word stands for no part of this line.
  const std::string source = "It costs 5 \u20AC.", prefix = "XYZ sagt uns heute: Es";
  const TestJson found =
      lines({{"text", {source, "a"}}, {"prefix", {prefix, ""}}, {"tokens", true}});
  const TestJson& best = found[0]["translations"][0];
  const std::string text = best["text"];
  EXPECT_TRUE(text.starts_with(prefix)) << text;
  std::vector<std::string> tokens;
  for (const TestJson& token : best["tokens"]) tokens.push_back(characters(text, token));
  EXPECT_THAT(tokens, ::testing::Contains("\u20AC")) << text;
}

TEST_F(GuidedLines, BeginWithTheirPrefixesByWayOfAnotherLanguage) {
  const TestJson found = lines({{"text", "Tom is my friend."}, {"prefix", "Ono"}}, "fr");
  const std::string text = found[0]["translations"][0]["text"];
  EXPECT_TRUE(text.starts_with("Ono")) << text;
}

TEST_F(GuidedLines, HaveAsManyTranslationsAsEachWants) {
  const std::string source = "Tom is my friend.";
  const auto expected = Translator(find_bundled_model()).translate(source).n_best;
  for (const std::size_t n_best : {1, 3, 6}) {
    const TestJson found = lines({{"text", source}, {"n_best", n_best}})[0]["translations"];
    ASSERT_EQ(found.size(), n_best);
    for (std::size_t i = 0; i < n_best; ++i) EXPECT_EQ(found[i]["text"], expected[i].text);
  }
  EXPECT_EQ(lines({{"text", source}, {"n_best", 64}})[0]["translations"].size(), expected.size());
}

TEST_F(GuidedLines, AreRefusedWithReasons) {
  EXPECT_THAT(refusal({{"text", {"a"}}, {"sentences", true}}), HasSubstr("not a list"));
  EXPECT_THAT(refusal({{"text", "a\nb"}, {"prefix", "c"}}),
              HasSubstr("there are 2 lines, and 1 prefix for them"));
  EXPECT_THAT(refusal({{"text", "a"}, {"prefix", 1}}), HasSubstr("'prefix' must be a text"));
  EXPECT_THAT(refusal({{"text", "a"}, {"tokens", true}}, "fr"),
              HasSubstr("there are no tokens of en-fr"));
}

TEST_F(Lines, HaveNoPrefixWithoutGuides) {
  const auto answer =
      server->post("/v1/translate", {{"text", "a"}, {"target", "de"}, {"prefix", "b"}});
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.json.value("error", ""), HasSubstr("cannot begin with a prefix"));
}

TEST(LinesWithoutAlignments, SayHow) {
  const RunningServer server({}, support::bundled_as({{"en", "de"}}));
  const auto answer =
      server.post("/v1/translate", {{"text", "a"}, {"target", "de"}, {"alignment", true}});
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.json.value("error", ""), HasSubstr("there are no alignments of en-de"));
}

}  // namespace
}  // namespace fuselage::lines_test
