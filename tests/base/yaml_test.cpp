#include "base/files/yaml.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "fuselage/base/error.h"
#include "tests/host_locale.h"

namespace fuselage::yaml_test {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::string& text, const YamlLimits& limits = {}) {
  try {
    load_yaml(text, "some.yml", limits);
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

TEST(LoadYaml, GivesTheDocument) {
  const YAML::Node node = load_yaml("a: &x [1, two]\nb: {c: *x, 'd': ~}\n", "some.yml");
  ASSERT_TRUE(node.IsMap());
  EXPECT_EQ(node["a"][1].Scalar(), "two");
  EXPECT_EQ(node["b"]["c"][0].Scalar(), "1");
  EXPECT_TRUE(node["b"]["d"].IsNull());
  EXPECT_TRUE(load_yaml("", "some.yml").IsNull());
  EXPECT_EQ(load_yaml("a: 1\n...\n", "some.yml")["a"].Scalar(), "1");
}

/// As PyYAML writes them.
TEST(LoadYaml, GivesTheCharactersOfEscapes) {
  const YAML::Node node = load_yaml(
      R"({"\_": "a\_\N\L\P\xE9\xa0\u00A0\U0001F600\e\/b", "x": ["\N", 'a\_'], y: \_})", "some.yml");
  EXPECT_EQ(node["\u00A0"].Scalar(),
            "a\u00A0\xC2\x85\u2028\u2029\u00E9\u00A0\u00A0\U0001F600\x1B/b");
  EXPECT_EQ(node["x"][0].Scalar(), "\xC2\x85");
  EXPECT_EQ(node["x"][1].Scalar(), "a\\_") << "no escape";
  EXPECT_EQ(node["y"].Scalar(), "\\_") << "no escape";
  EXPECT_EQ(load_yaml("a: \"à\\_ą\\N\"", "some.yml")["a"].Scalar(), "à\u00A0ą\xC2\x85");
  EXPECT_EQ(error_of("\"\\_\": 1\n\"\u00A0\": 2\n"),
            "some.yml: line 2: the key '\u00A0' is given twice");
}

TEST(LoadYaml, ReadsVersionsWhateverTheLocale) {
  const support::HostNumbers locale;
  for (const char* version :
       {"%YAML 1.1\n---\na: 1.5\n", "\xEF\xBB\xBF# made\n%YAML 1.2 \n---\na: 1.5"})
    EXPECT_EQ(load_yaml(version, "some.yml")["a"].Scalar(), "1.5");
  EXPECT_THAT(error_of("%YAML 2.0\n---\na: 1\n"), HasSubstr("some.yml: line 1: invalid YAML"));
}

TEST(LoadYaml, RefusesInvalidTextWithItsLine) {
  EXPECT_THAT(error_of("a: 1\nb: [1,\n"), HasSubstr("some.yml: line 3: invalid YAML: "));
  EXPECT_THAT(error_of("a: *nothing\n"), HasSubstr("line 1: invalid YAML"));
  EXPECT_THAT(error_of("a: 1\n---\nb: 2\n"), HasSubstr("line 2: a second document begins"));
}

TEST(LoadYaml, RefusesKeysThatRepeatOrAreNoNames) {
  EXPECT_EQ(error_of("a: 1\nb: 2\na: 3\n"), "some.yml: line 3: the key 'a' is given twice");
  EXPECT_THAT(error_of("x:\n  a: 1\n  \"a\": 3\n"),
              HasSubstr("line 3: the key 'a' is given twice"));
  EXPECT_EQ(error_of("a: {b: 1}\nb: {b: 1}\n"), "no error");
  for (const char* text : {"[a]: 1", "{a: 1}: 1", "~: 1", "? \n: 1", "a: &x 1\n*x : 2"})
    EXPECT_THAT(error_of(text), HasSubstr("a key is not a name")) << text;
}

TEST(LoadYaml, CountsWhatAliasesStandFor) {
  const std::string text = "a: &a [1, 2, 3]\nb: &b [*a, *a]\nc: *b\n";
  // The mapping, 3 keys, and 4 + 9 + 9 values.
  EXPECT_EQ(error_of(text, {.nodes = 26}), "no error");
  EXPECT_EQ(error_of(text, {.nodes = 25}),
            "some.yml: line 3: the text holds more than 25 values, each alias counted as a copy of "
            "its anchor's value");
}

TEST(LoadYaml, CountsTheBytesThatAliasesStandFor) {
  const std::string text = "a: &a " + std::string(100, 'x') + "\nb: [*a, *a]\n";
  EXPECT_EQ(error_of(text, {.bytes = 302}), "no error");
  EXPECT_EQ(error_of(text, {.bytes = 301}),
            "some.yml: line 2: the values of the text hold more than 301 bytes, each alias counted "
            "as a copy of its anchor's value");
}

TEST(LoadYaml, RefusesNestedAliasesBeforeTheyAreExpanded) {
  std::string text = "k0: &a0 [0, 0, 0, 0, 0, 0, 0, 0, 0]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string alias = "*a" + std::to_string(i - 1);
    text += fmt::format("k{}: &a{} [{}{}]\n", i, i, alias, repeated(8, ", " + alias));
  }
  EXPECT_THAT(error_of(text), HasSubstr("line 6: the text holds more than 100000 values"));
}

TEST(LoadYaml, RefusesAnAliasWithinItsAnchor) {
  EXPECT_EQ(error_of("a: &a [1, *a]\n"),
            "some.yml: line 1: an alias stands within the node that it names");
  EXPECT_THAT(error_of("&a {b: {c: *a}}"), HasSubstr("an alias stands within"));
}

TEST(LoadYaml, BoundsNesting) {
  EXPECT_EQ(error_of(repeated(63, "{a: ") + "1" + repeated(63, "}")), "no error");
  EXPECT_EQ(error_of(repeated(64, "[") + repeated(64, "]")), "no error");
  EXPECT_EQ(error_of(repeated(65, "[") + repeated(65, "]")),
            "some.yml: line 1: collections nest deeper than 64");
  EXPECT_THAT(error_of(repeated(100000, "- ")), HasSubstr("nest deeper than 64"));
  for (const char* text : {"[", "{", "? ", "a: [", "{a: "})
    EXPECT_NE(error_of(repeated(100000, text)), "no error") << text;
}

TEST(LoadYaml, BoundsTheText) {
  EXPECT_EQ(error_of("a: 1234", {.bytes = 7}), "no error");
  EXPECT_EQ(error_of("a: 12345", {.bytes = 7}),
            "some.yml: the YAML text has 8 bytes, at most 7 are read");
}

/// Took quadratic time where each key was compared with all others.
TEST(LoadYaml, ReadsManyKeysAndAnchors) {
  std::string text;
  for (int i = 0; i < 33000; ++i) text += fmt::format("key{}: &a{} 1\n", i, i);
  EXPECT_EQ(load_yaml(text, "some.yml").size(), 33000u);
}

}  // namespace
}  // namespace fuselage::yaml_test
