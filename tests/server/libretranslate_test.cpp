// The routes of LibreTranslate, as its clients use them.

#include <gmock/gmock.h>

#include "tests/server/support.h"

namespace fuselage::libretranslate_test {
namespace {

using support::RunningServer;
using support::TestJson;
using ::testing::HasSubstr;

constexpr const char* kForm = "application/x-www-form-urlencoded";

class LibreTranslate : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server = new RunningServer; }
  static void TearDownTestSuite() { delete std::exchange(server, nullptr); }

  static std::string translated(const std::string& text) {
    static const Translator translator(find_bundled_model());
    return translator.translate(text).text();
  }

  static inline RunningServer* server = nullptr;
};

TEST_F(LibreTranslate, TranslatesATextFromJsonAndFromForms) {
  const std::string expected = translated("Tom is my friend.");
  const auto json =
      server->post("/translate", {{"q", "Tom is my friend."}, {"source", "en"}, {"target", "de"}});
  EXPECT_EQ(json.status, 200);
  EXPECT_EQ(json.json, TestJson({{"translatedText", expected}}));
  const auto form =
      server->post("/translate", "q=Tom+is+my%20friend.&source=en&target=de&format=text", kForm);
  EXPECT_EQ(form.json, json.json);
  const httplib::MultipartFormDataItems parts = {
      {"q", "Tom is my friend.", "", ""}, {"source", "en", "", ""}, {"target", "de", "", ""}};
  EXPECT_EQ(RunningServer::answer_of(server->client().Post("/translate", parts)).json, json.json);
}

TEST_F(LibreTranslate, TakesFormsOfAnySize) {
  std::string body = "source=en&target=de&q=";
  for (int i = 0; i < 600; ++i) body += "Tom+is+here.%0A";
  const auto answer = server->post("/translate", body, kForm);
  EXPECT_EQ(answer.status, 200);
  const auto text = answer.json["translatedText"].get<std::string>();
  EXPECT_EQ(std::ranges::count(text, '\n'), 600);
}

TEST_F(LibreTranslate, TakesParametersBehindThePath) {
  const auto answer = RunningServer::answer_of(
      server->client().Post("/translate?q=Tom%20is%20my%20friend.&source=en&target=de"));
  EXPECT_EQ(answer.json["translatedText"], translated("Tom is my friend."));
  const auto half = server->post("/translate?source=en&target=de", "q=I+am+tired.", kForm);
  EXPECT_EQ(half.json["translatedText"], translated("I am tired."));
}

TEST_F(LibreTranslate, KeepsLinesAndWhiteSpace) {
  const std::string first = translated("Tom is my friend."), second = translated("I am tired.");
  const auto answer = server->post(
      "/translate",
      {{"q", "Tom is my friend.\n\n  I am tired.\r\n"}, {"source", "en"}, {"target", "de"}});
  EXPECT_EQ(answer.json["translatedText"], first + "\n\n  " + second + "\r\n");
}

TEST_F(LibreTranslate, TranslatesALineWithTagsAround) {
  const auto answer =
      server->post("/translate", {{"q", "<p class=\"a>b\">Tom is my friend.</p><br>\n<!-- I -->"},
                                  {"source", "en"},
                                  {"target", "de"},
                                  {"format", "html"}});
  EXPECT_EQ(answer.json["translatedText"],
            "<p class=\"a>b\">" + translated("Tom is my friend.") + "</p><br>\n<!-- I -->");
}

TEST_F(LibreTranslate, TranslatesSentencesOfALineEachAlone) {
  const auto answer = server->post(
      "/translate", {{"q", "Tom is my friend. I am tired."}, {"source", "en"}, {"target", "de"}});
  EXPECT_EQ(answer.json["translatedText"],
            translated("Tom is my friend.") + " " + translated("I am tired."));
}

TEST_F(LibreTranslate, MovesTagsWithTheirWords) {
  const auto answer = server->post("/translate", {{"q", "<i>Tom</i> is my <b>friend</b>."},
                                                  {"source", "en"},
                                                  {"target", "de"},
                                                  {"format", "html"},
                                                  {"alternatives", 1}});
  EXPECT_EQ(answer.json["translatedText"], "<i>Tom</i> ist mein <b>Freund</b>.");
  EXPECT_THAT(answer.json["alternatives"][0].get<std::string>(), HasSubstr("<b>"));
}

TEST_F(LibreTranslate, TranslatesAList) {
  const auto answer = server->post(
      "/translate",
      {{"q", {"Tom is my friend.", "", "I am tired."}}, {"source", "en"}, {"target", "de"}});
  EXPECT_EQ(answer.json["translatedText"],
            TestJson({translated("Tom is my friend."), "", translated("I am tired.")}));
}

TEST_F(LibreTranslate, GivesAlternatives) {
  const auto one = server->post(
      "/translate",
      {{"q", "Tom is my friend."}, {"source", "en"}, {"target", "de"}, {"alternatives", 2}});
  ASSERT_EQ(one.json["alternatives"].size(), 2u);
  EXPECT_NE(one.json["alternatives"][0], one.json["translatedText"]);
  const auto list = server->post(
      "/translate",
      {{"q", {"Tom is my friend."}}, {"source", "en"}, {"target", "de"}, {"alternatives", "2"}});
  EXPECT_EQ(list.json["alternatives"], TestJson::array({one.json["alternatives"]}));
}

TEST_F(LibreTranslate, FindsTheLanguageOfAText) {
  const auto answer = server->post(
      "/translate", {{"q", "Tom is my friend."}, {"source", "auto"}, {"target", "de"}});
  EXPECT_EQ(answer.json["detectedLanguage"]["language"], "en");
  EXPECT_EQ(answer.json["translatedText"], translated("Tom is my friend."));
  const auto list =
      server->post("/translate", {{"q", {"Tom", "xyz"}}, {"source", "auto"}, {"target", "de"}});
  EXPECT_EQ(list.json["detectedLanguage"].size(), 2u);
  const auto detected =
      server->post("/detect", {{"q", "Das ist ein Satz, den niemand je geschrieben hat."}});
  EXPECT_EQ(detected.json[0]["language"], "de");
  EXPECT_GT(detected.json[0]["confidence"], 50);
  EXPECT_EQ(server->post("/detect", "q=...", kForm).json,
            TestJson::parse(R"([{"confidence": 0.0, "language": "en"}])"));
}

TEST_F(LibreTranslate, ListsLanguagesAndSettings) {
  EXPECT_EQ(server->get("/languages").json,
            TestJson::parse(R"([{"code": "de", "name": "German", "targets": []},
                                {"code": "en", "name": "English", "targets": ["de"]}])"));
  const TestJson settings = server->get("/frontend/settings").json;
  EXPECT_EQ(settings["charLimit"], 50000);
  EXPECT_EQ(settings["language"]["target"], TestJson({{"code", "de"}, {"name", "German"}}));
  EXPECT_EQ(server->get("/health").json, TestJson({{"status", "ok"}}));
  EXPECT_EQ(server->get("/spec").json["openapi"], server->get("/openapi.json").json["openapi"]);
}

TEST_F(LibreTranslate, AllowsOtherOrigins) {
  EXPECT_EQ(server->get("/languages").headers.find("Access-Control-Allow-Origin")->second, "*");
  const auto result = server->client().Options("/translate");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 204);
  EXPECT_EQ(result->get_header_value("Access-Control-Allow-Methods"), "OPTIONS, POST");
}

struct Refusal {
  TestJson body;
  int status;
  std::string message;
};

TEST_F(LibreTranslate, RefusesWithItsStatusCodes) {
  const std::vector<Refusal> refusals = {
      {{{"source", "en"}, {"target", "de"}}, 400, "missing q parameter"},
      {{{"q", ""}, {"source", "en"}, {"target", "de"}}, 400, "missing q parameter"},
      {{{"q", "a"}, {"target", "de"}}, 400, "missing source parameter"},
      {{{"q", "a"}, {"source", "en"}}, 400, "missing target parameter"},
      {{{"q", "a"}, {"source", "en"}, {"target", "fr"}}, 400, "'fr' is not supported"},
      {{{"q", "a"}, {"source", "fr"}, {"target", "de"}}, 400, "'fr' is not supported"},
      {{{"q", "a"}, {"source", "de"}, {"target", "en"}}, 400, "'en' is not supported"},
      {{{"q", "a"}, {"source", "en"}, {"target", "de"}, {"format", "pdf"}},
       400,
       "'pdf' format is not supported"},
      {{{"q", 5}, {"source", "en"}, {"target", "de"}}, 400, "'q' must be a text"},
      {{{"q", {"a", 5}}, {"source", "en"}, {"target", "de"}}, 400, "'q' must be a text or a list"},
      {{{"q", "a"}, {"source", "en"}, {"target", {"de"}}}, 400, "'target' must be a text"},
      {{{"q", "a"}, {"source", "en"}, {"target", "de"}, {"alternatives", -1}},
       400,
       "'alternatives' must be a whole number from 0 to 63"},
      {{{"q", std::string(50001, 'a')}, {"source", "en"}, {"target", "de"}},
       400,
       "request (50001) exceeds text limit (50000)"}};
  for (const Refusal& refusal : refusals) {
    const auto answer = server->post("/translate", refusal.body);
    EXPECT_EQ(answer.status, refusal.status) << refusal.message;
    EXPECT_THAT(answer.json.value("error", ""), HasSubstr(refusal.message));
  }
}

TEST(SeveralModels, AreChosenByLanguage) {
  const RunningServer server({}, support::bundled_as({{"en", "de"}, {"fr", "de"}, {"en", "sv"}}));
  const TestJson languages = server.get("/languages").json;
  EXPECT_EQ(languages[1]["targets"], TestJson({"de", "sv"}));
  const auto french = server.post(
      "/translate",
      {{"q", "Je ne sais pas ce que je dois faire."}, {"source", "auto"}, {"target", "de"}});
  EXPECT_EQ(french.json["detectedLanguage"]["language"], "fr");
  const auto neither = server.post(
      "/translate",
      {{"q", "Jag vet inte vad jag ska göra idag."}, {"source", "auto"}, {"target", "de"}});
  EXPECT_EQ(neither.status, 400);
  EXPECT_THAT(neither.json.value("error", ""), HasSubstr("'sv' is not supported"));
  // The only model into Swedish: a short text is meant for it, whatever it looks like.
  const auto looks_otherwise =
      server.post("/translate", {{"q", "Wo wohnst du?"}, {"source", "auto"}, {"target", "sv"}});
  EXPECT_EQ(looks_otherwise.json["detectedLanguage"],
            TestJson({{"confidence", 0}, {"language", "en"}}));
  const auto surely = server.post(
      "/translate", {{"q", "Je ne sais pas ce que je dois faire aujourd'hui ou demain."},
                     {"source", "auto"},
                     {"target", "sv"}});
  EXPECT_THAT(
      surely.json.value("error", ""),
      HasSubstr(
          "Swedish (sv) is not available as a target language from French (fr), the language"));
  const auto pair = server.post("/translate", {{"q", "a"}, {"source", "fr"}, {"target", "sv"}});
  EXPECT_THAT(pair.json.value("error", ""),
              HasSubstr("Swedish (sv) is not available as a target language from French (fr)"));
}

TEST(SeveralModels, TranslateByWayOfAnother) {
  const RunningServer server({}, support::bundled_as({{"en", "de"}, {"de", "fr"}, {"sv", "en"}}));
  const TestJson languages = server.get("/languages").json;
  EXPECT_EQ(languages[0]["code"], "de");
  EXPECT_EQ(languages[0]["targets"], TestJson({"fr"}));
  EXPECT_EQ(languages[1]["targets"], TestJson({"de", "fr"}));
  // One language between, not two.
  EXPECT_EQ(languages[3]["targets"], TestJson({"de", "en"}));
  TestJson request = {{"q", "Tom is my friend. I am tired.\n"}, {"source", "en"}, {"target", "de"}};
  TestJson second = {{"q", server.post("/translate", request).json["translatedText"]},
                     {"source", "de"},
                     {"target", "fr"}};
  request["target"] = "fr";
  const auto through = server.post("/translate", request);
  EXPECT_EQ(through.status, 200);
  EXPECT_EQ(through.json, server.post("/translate", second).json);

  const auto lines_of = [&](const TestJson& text, const char* source, const char* target) {
    return server.post("/v1/translate", {{"text", text}, {"source", source}, {"target", target}})
        .json["lines"];
  };
  const TestJson text = {"Tom is my friend.", "", "I am tired."};
  TestJson between = TestJson::array();
  for (const TestJson& line : lines_of(text, "en", "de"))
    between.push_back(line["translations"][0]["text"]);
  EXPECT_EQ(lines_of(text, "en", "fr"), lines_of(between, "de", "fr"));
  const auto aligned = server.post(
      "/v1/translate", {{"text", "a"}, {"source", "en"}, {"target", "fr"}, {"alignment", true}});
  EXPECT_EQ(aligned.status, 400);
  EXPECT_THAT(aligned.json.value("error", ""), HasSubstr("by way of another language"));
}

}  // namespace
}  // namespace fuselage::libretranslate_test
