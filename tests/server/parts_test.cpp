// Small parts of the server: names of languages, rates and keys.

#include <gmock/gmock.h>

#include <fstream>

#include "fuselage/base/error.h"
#include "server/limits/api_keys.h"
#include "server/limits/rate_limiter.h"
#include "server/models/language_pair.h"
#include "server/text/language_detector.h"
#include "tests/temporary_folder.h"

namespace fuselage::server_parts_test {
namespace {

using ::testing::HasSubstr;

TEST(Languages, AreFoundInNames) {
  const auto found = [](std::string_view name) {
    const auto pair = languages_of_name(name);
    return pair ? to_string(*pair) : "";
  };
  EXPECT_EQ(found("en-de"), "en-de");
  EXPECT_EQ(found("opus-mt-en-de"), "en-de");
  EXPECT_EQ(found("translate-en_de-1_0"), "en-de");
  EXPECT_EQ(found("ende"), "en-de");
  EXPECT_EQ(found("deu-eng"), "deu-eng");
  EXPECT_EQ(found("my-own-big"), "");
  EXPECT_EQ(found("model"), "");
  EXPECT_EQ(found("student"), "");
  EXPECT_EQ(found(""), "");
}

TEST(Languages, HaveCodes) {
  for (const char* code : {"en", "deu", "zh_Hant", "pt-BR", "es-419", "sr-Latn-RS"})
    EXPECT_TRUE(is_language_code(code)) << code;
  for (const char* code :
       {"", "e", "german", "EN", "de_", "de__AT", "_de", "1a", "de-abcdefghi", "d\xc3\xa9"})
    EXPECT_FALSE(is_language_code(code)) << code;
}

TEST(Languages, HaveNames) {
  EXPECT_EQ(language_name("de"), "German");
  EXPECT_EQ(language_name("deu_Latn"), "German");
  EXPECT_EQ(language_name("qqq"), "qqq");
  EXPECT_TRUE(is_same_language("deu_Latn", "de"));
  EXPECT_FALSE(is_same_language("deu_Latn", "en"));
}

TEST(Languages, AreDetected) {
  const auto first = [](std::string_view text) {
    const auto detected = detect_languages(text);
    return detected.empty() ? "" : detected[0].code;
  };
  EXPECT_EQ(first("This is a sentence that nobody has ever written."), "en");
  EXPECT_EQ(first("Это предложение никто никогда не писал."), "ru");
  EXPECT_EQ(first("Das ist ein\x01 Satz,\tden niemand\nje geschrieben hat."), "de");
  EXPECT_EQ(first(""), "");
  EXPECT_EQ(first("12345"), "");
}

TEST(Rates, AreOfEachClient) {
  RateLimiter rates;
  const auto now = RateLimiter::Clock::now();
  for (int i = 0; i < 6; ++i) EXPECT_EQ(rates.count("a", 6, now).count(), 0);
  EXPECT_NEAR(rates.count("a", 6, now).count(), 10, 0.01);
  EXPECT_EQ(rates.count("b", 6, now).count(), 0);
  EXPECT_EQ(rates.count("a", 6, now + std::chrono::seconds(11)).count(), 0);
  EXPECT_GT(rates.count("a", 6, now + std::chrono::seconds(11)).count(), 0);
  EXPECT_EQ(rates.count("a", 0, now).count(), 0);
}

TEST(Keys, AreReadFromAFile) {
  const support::TemporaryFolder folder;
  const std::string path = folder / "keys";
  const auto write = [&](const std::string& text) { std::ofstream(path) << text; };
  write("# keys\nfirst\nsecond 60 # of a minute\n\n");
  const ApiKeys keys(path);
  ASSERT_NE(keys.find("first"), nullptr);
  EXPECT_FALSE(keys.find("first")->per_minute.has_value());
  EXPECT_EQ(keys.find("second")->per_minute, 60u);
  EXPECT_EQ(keys.find("third"), nullptr);
  const auto refusal = [&](const std::string& text) -> std::string {
    write(text);
    try {
      ApiKeys{path};
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal("a\nkey many\n"), HasSubstr(":2: a line has a key"));
  EXPECT_THAT(refusal("key 5 6\n"), HasSubstr(":1: a line has a key"));
  EXPECT_THAT(refusal("# none\n"), HasSubstr("there is no key"));
}

}  // namespace
}  // namespace fuselage::server_parts_test
