// docs/search.md: the lines that it shows do what it says.

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "base/files/file.h"
#include "fuselage/decoding/translator.h"
#include "fuselage/models/bundled_model.h"
#include "tests/temporary_folder.h"

namespace fuselage {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// The lines of the text block number `number` of a section of the page.
std::vector<std::string> shown_lines(const std::string& section, std::size_t number = 0) {
  const std::string page = read_file(std::string(FUSELAGE_SOURCE_DIR) + "/docs/search.md");
  std::size_t at = page.find("\n## " + section + "\n");
  for (std::size_t i = 0; i <= number; ++i) at = page.find("```text\n", at) + 8;
  std::istringstream block(page.substr(at, page.find("```", at) - at));
  std::vector<std::string> lines;
  for (std::string line; std::getline(block, line);) lines.push_back(line);
  return lines;
}

TEST(SearchPage, ShowsPrefixes) {
  const Translator translator(find_bundled_model(), {.force_decode = true});
  const std::vector<Translation> found = translator.translate(shown_lines("Prefixes"));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0].text(), StartsWith("Mein "));
  EXPECT_EQ(found[1].text(), "Tom ist mein Freund.");
}

TEST(SearchPage, ShowsATerminologyAndConstraints) {
  const support::TemporaryFolder folder;
  for (const std::string& line : shown_lines("Terms"))
    std::ofstream(folder / "terms.tsv", std::ios::app) << line << "\n";
  const Translator by_file(find_bundled_model(), {.terminology = folder / "terms.tsv"});
  EXPECT_THAT(by_file.translate("My friend is here.").text(),
              AnyOf(HasSubstr("Kumpel"), HasSubstr("Freundin")));
  EXPECT_THAT(by_file.translate("This is an old house.").text(), HasSubstr("Altbau"));
  const Translator by_line(find_bundled_model(), {.constraints = true});
  const std::string text = by_line.translate(shown_lines("Terms", 1).at(0)).text();
  EXPECT_THAT(text, HasSubstr("sehr"));
  EXPECT_THAT(text, AnyOf(HasSubstr("Gebäude"), HasSubstr("Wohnung")));
}

TEST(SearchPage, ShowsPlaceholders) {
  const std::vector<std::string> lines = shown_lines("Placeholders");
  ASSERT_EQ(lines.size(), 3u);
  const std::vector<Translation> found = Translator(find_bundled_model()).translate(lines);
  EXPECT_EQ(found[0].text(), "Es kostet 5 €. 😀");
  for (const char* address : {"tom@example.org", "https://example.org/help?page=2"})
    EXPECT_THAT(found[1].text(), HasSubstr(address));
  EXPECT_EQ(found[2].text(), "Ich heiße Łukasz.");
}

TEST(SearchPage, ShowsGuidesInCpp) {
  const Translator translator(find_bundled_model(), {.guided = true});
  EXPECT_THAT(translator.translate("Tom is my friend.", {.prefix = "Mein"}).text(),
              StartsWith("Mein "));
  const std::string text =
      translator.translate("I like this house.", {.terms = {{"Gebäude", "Wohnung"}, {"sehr"}}})
          .text();
  EXPECT_THAT(text, HasSubstr("sehr"));
}

}  // namespace
}  // namespace fuselage
