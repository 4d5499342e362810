#include "models/formats/json.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "fuselage/base/error.h"
#include "tests/host_locale.h"

namespace fuselage::json_test {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::string& text, const JsonLimits& limits = {}) {
  try {
    load_json(text, "some.json", limits);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string repeated(std::size_t count, const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < count; ++i) result += text;
  return result;
}

TEST(LoadJson, GivesTheValue) {
  const nlohmann::json value = load_json(R"({"a": [1, -2, 0.5, true, null], "b": {"a": ""}})", "x");
  EXPECT_EQ(value["a"].size(), 5u);
  EXPECT_EQ(value["a"][1], -2);
  EXPECT_EQ(value["b"]["a"], "");
}

TEST(LoadJson, ReadsNumbersWhateverTheLocale) {
  const support::HostLocale locale;
  EXPECT_EQ(load_json("[1.5, -1234.25e1]", "x").dump(), "[1.5,-12342.5]");
  if (!locale.has_c()) GTEST_SKIP() << "there is no locale for C: localedef has no ps_AF";
}

TEST(LoadJson, RefusesInvalidTextWithItsByte) {
  EXPECT_EQ(error_of("{\"a\": }"), "some.json: invalid JSON at byte 7");
  for (const char* text : {"", "{", "{}}", "{'a': 1}", "[1,]", "\"\xff\""})
    EXPECT_THAT(error_of(text), HasSubstr("invalid JSON at byte")) << text;
  EXPECT_THAT(error_of("[1e9999]"), HasSubstr("is out of range"));
}

TEST(LoadJson, RefusesRepeatedKeysAtAnyDepth) {
  EXPECT_EQ(error_of(R"({"a": 1, "b": 2, "a": 3})"), "some.json: the key 'a' is given twice");
  EXPECT_EQ(error_of(R"([{"x": {"a": 1, "\u0061": 3}}])"), "some.json: the key 'a' is given twice");
  EXPECT_EQ(error_of(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 1}]})"), "no error");
}

TEST(LoadJson, BoundsNestingValuesAndBytes) {
  EXPECT_EQ(error_of("[[[1]]]", {.depth = 3}), "no error");
  EXPECT_EQ(error_of("[[[1]]]", {.depth = 2}), "some.json: objects and lists nest deeper than 2");
  for (const char* text : {"[", "{\"a\":"})
    EXPECT_THAT(error_of(repeated(100000, text)), HasSubstr("nest deeper than 16"));
  EXPECT_EQ(error_of("[1, {\"a\": 2}]", {.values = 4}), "no error");
  EXPECT_EQ(error_of("[1, {\"a\": 2}]", {.values = 3}),
            "some.json: the JSON text holds more than 3 values");
  EXPECT_EQ(error_of("[1, 2]", {.bytes = 5}),
            "some.json: the JSON text has 6 bytes, at most 5 are read");
}

/// Took minutes where the objects in an object were looked through at the end of each.
TEST(LoadJson, ReadsManyKeysAndObjects) {
  std::string text = "{";
  for (int i = 0; i < 99'999; ++i) text += fmt::format("{}\"key{}\": {{}}", i == 0 ? "" : ",", i);
  EXPECT_EQ(load_json(text + "}", "x", {.bytes = text.size() + 1}).size(), 99'999u);
}

}  // namespace
}  // namespace fuselage::json_test
