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
