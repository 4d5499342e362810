// The bodies of requests, valid and hostile.

#include "server/requests/request_fields.h"

#include <gmock/gmock.h>

#include "server/requests/translate_request.h"

namespace fuselage::request_fields_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

HttpRequest json_request(std::string body) {
  return {.content_type = "application/json", .body = std::move(body)};
}

std::string refusal(const HttpRequest& request) {
  try {
    const RequestFields fields(request);
    read_translate_request(fields, 100);
  } catch (const HttpError& error) {
    EXPECT_TRUE(error.status() == 400 || error.status() == 415);
    return error.what();
  }
  return "";
}

TEST(RequestFields, ReadForms) {
  EXPECT_THAT(parse_form("q=a+b%20c&&x&=y&z=%4&w=%C3%A4"),
              ElementsAre(Pair("q", "a b c"), Pair("x", ""), Pair("", "y"), Pair("z", "%4"),
                          Pair("w", "ä")));
}

TEST(RequestFields, ReadAFieldOfAFormSeveralTimesAsAList) {
  const RequestFields fields(
      {.content_type = "application/x-www-form-urlencoded", .body = "q=a&q=b&q=c&source=en"});
  EXPECT_THAT(fields.texts("q"), ElementsAre("a", "b", "c"));
  EXPECT_TRUE(fields.is_list("q"));
  EXPECT_FALSE(fields.is_list("source"));
}

TEST(RequestFields, AreReadBehindThePath) {
  const HttpFields query = {{"q", "a"}, {"target", "de"}};
  EXPECT_EQ(RequestFields({.method = "POST", .query = query}).text("q"), "a");
  const RequestFields both({.method = "POST",
                            .content_type = "application/x-www-form-urlencoded",
                            .body = "q=b&source=en",
                            .query = query});
  EXPECT_EQ(both.text("q"), "a") << "as Flask";
  EXPECT_EQ(both.text("source"), "en");
  EXPECT_EQ(both.text("target"), "de");
  const RequestFields json({.method = "POST",
                            .content_type = "application/json",
                            .body = R"({"q": "b"})",
                            .query = query});
  EXPECT_EQ(json.text("q"), "b");
  EXPECT_FALSE(json.has("target"));
  EXPECT_THAT(refusal({.method = "POST", .query = {{"q", "\xC3"}}}), HasSubstr("not valid UTF-8"));
}

TEST(RequestFields, RefuseWhatIsNoObject) {
  for (const char* const body : {"", "{", "nonsense", "{\"q\": \"a\"} x", "{\"q\": \"\xC3\"}",
                                 "{\"q\": \"\\ud800\"}", "{\"q\": 1e999}"})
    EXPECT_THAT(refusal(json_request(body)), HasSubstr("not valid JSON")) << body;
  for (const char* const body : {"5", "null", "[]", "\"q\""})
    EXPECT_THAT(refusal(json_request(body)), HasSubstr("not a JSON object")) << body;
}

TEST(RequestFields, ReadJsonThatIsCalledAForm) {
  const RequestFields fields({.method = "POST",
                              .content_type = "application/x-www-form-urlencoded",
                              .body = R"({"q": "a=b"})"});
  EXPECT_EQ(fields.text("q"), "a=b");
  for (const char* const type : {"", "text/plain", "application/x-www-form-urlencoded"})
    EXPECT_EQ(RequestFields({.method = "POST", .content_type = type, .body = "\r\n {\"q\": \"a\"}"})
                  .text("q"),
              "a")
        << type;
}

TEST(RequestFields, RefuseDeepNesting) {
  EXPECT_THAT(refusal(json_request(std::string(100'000, '['))), HasSubstr("nested too deeply"));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_THAT(refusal(json_request(objects)), HasSubstr("nested too deeply"));
}

TEST(RequestFields, RefuseInvalidTextInForms) {
  EXPECT_THAT(refusal({.content_type = "application/x-www-form-urlencoded", .body = "q=%FF"}),
              HasSubstr("not valid UTF-8"));
  EXPECT_THAT(refusal({.content_type = "multipart/form-data", .parts = {{"q", "\xED\xA0\x80"}}}),
              HasSubstr("not valid UTF-8"));
}

TEST(RequestFields, RefuseOtherContent) {
  EXPECT_THAT(refusal({.content_type = "image/png", .body = "q"}), HasSubstr("'image/png'"));
}

TEST(RequestFields, CountCharactersAndNotBytes) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "ä";
  const auto body = [](const std::string& q) {
    return json_request(R"({"source":"en","target":"de","q":")" + q + "\"}");
  };
  EXPECT_EQ(refusal(body(text)), "");
  EXPECT_THAT(refusal(body(text + "ä")), HasSubstr("request (101) exceeds text limit (100)"));
}

TEST(LinesOfAText, HaveNoLineBreaks) {
  EXPECT_THAT(lines_of("a\r\n\nb\n"), ElementsAre("a", "", "b"));
  EXPECT_THAT(lines_of("a"), ElementsAre("a"));
  EXPECT_THAT(lines_of("\n"), ElementsAre(""));
}

}  // namespace
}  // namespace fuselage::request_fields_test
