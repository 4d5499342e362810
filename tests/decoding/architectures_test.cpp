// Tiny models of every kind with random weights, and what Marian made of them: see
// scripts/make_architecture_cases.py.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "fuselage/decoding/output_format.h"
#include "fuselage/decoding/scorer.h"
#include "fuselage/decoding/translator.h"
#include "fuselage/models/load_model.h"
#include "tests/decoding/marian_output.h"
#include "tests/decoding/support.h"

namespace fuselage {
namespace {

using support::fields_of;
using support::lines_of;
using support::numbers_of;

const std::string kFolder = FUSELAGE_TEST_DATA "/architectures/";

std::vector<std::string> all_cases() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder))
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

class Architectures : public ::testing::TestWithParam<std::string> {
 protected:
  static std::string file(const std::string& name) { return kFolder + GetParam() + "/" + name; }
  static bool has(const std::string& name) { return std::filesystem::exists(file(name)); }
  static Model model() { return load_model(file("model.npz")); }
  static bool is_language_model() { return GetParam().starts_with("lm"); }
  static bool has_two_texts() { return GetParam().find("multi-") != std::string::npos; }

  static std::vector<std::string> source_lines(std::size_t count) {
    std::vector<std::string> lines = lines_of(read_file(kFolder + "source.txt"));
    const std::vector<std::string> others = lines_of(read_file(kFolder + "source2.txt"));
    for (std::size_t i = 0; has_two_texts() && i < lines.size(); ++i) lines[i] += "\t" + others[i];
    lines.resize(std::min(count, lines.size()));
    return lines;
  }

  static std::vector<std::string> vocabularies() {
    const std::size_t count = is_language_model() ? 1 : has_two_texts() ? 3 : 2;
    return std::vector<std::string>(count, kFolder + "vocab.yml");
  }

  /// Scores are printed with six digits, those of words with five decimals.
  static void expect_near(const std::string& actual, const std::string& expected) {
    const auto a = numbers_of(actual);
    const auto e = numbers_of(expected);
    ASSERT_EQ(a.size(), e.size()) << actual << "\n" << expected;
    for (std::size_t i = 0; i < a.size(); ++i)
      EXPECT_NEAR(a[i], e[i], 1e-4 * std::abs(e[i]) + 2e-5) << actual << "\n" << expected;
  }

  struct Search {
    const char* file;
    std::int32_t beam_size = 1;
    float normalize = 0;
    bool all = true;  ///< the file has all translations of a line, not only the best
  };

  static void check_search(const CompileOptions& compile, const Search& search,
                           std::size_t count = 1000) {
    TranslatorOptions options{.beam_size = search.beam_size, .normalize = search.normalize};
    options.max_length_factor = 2;
    options.compile = compile;
    options.vocabularies.paths = vocabularies();
    OutputFormat format{.n_best = true};
    if (search.beam_size == 1) {
      format.word_scores = true;
      options.alignment = model().graph.find_output("alignment").valid();
      if (options.alignment) format.alignment = AlignmentFormat{};
    }
    const Translator translator(model(), options);
    const std::vector<std::string> expected = lines_of(read_file(file(search.file)));
    std::size_t next = 0, number = 0;
    for (const Translation& translation : translator.translate(source_lines(count))) {
      auto actual = lines_of(format_translation(number++, translation, format));
      if (!search.all) actual.resize(1);
      for (const std::string& line : actual) {
        ASSERT_LT(next, expected.size());
        const auto a = fields_of(line);
        const auto e = fields_of(expected[next++]);
        ASSERT_EQ(a.size(), e.size()) << line;
        for (std::size_t i = 0; i < a.size(); ++i)
          if (e[i].find("= ") == std::string::npos && i + 1 < a.size())
            EXPECT_EQ(a[i], e[i]) << "field " << i << " of " << line;
          else
            expect_near(a[i], e[i]);
      }
    }
    EXPECT_TRUE(next == expected.size() || number == count);
  }

  /// Marian's decoder does not compute some models as its training does; of these only the scores
  /// of given translations are known.
  static void check_scores(const CompileOptions& compile) {
    ScorerOptions options;
    options.compile = compile;
    options.vocabularies.paths = vocabularies();
    const Scorer scorer(model(), options);
    std::istringstream source(read_file(kFolder + "source.txt"));
    std::istringstream target(read_file(kFolder + "target.txt"));
    const std::vector<std::string> expected = lines_of(read_file(file("score.txt")));
    std::size_t lines = 0;
    const auto check = [&](std::size_t line, PairScore&& pair) {
      ++lines;
      const std::string printed = lines_of(format_score(line, pair, {.word_scores = true})).at(0);
      const auto a = fields_of(printed);
      const auto e = fields_of(expected.at(line));
      ASSERT_EQ(a.size(), e.size());
      for (std::size_t i = 0; i < a.size(); ++i) expect_near(a[i], e[i]);
    };
    is_language_model() ? scorer.score(target, check) : scorer.score(source, target, check);
    EXPECT_EQ(lines, expected.size());
  }

  static void check_all(const CompileOptions& compile) {
    if (has("score.txt")) return check_scores(compile);
    check_search(compile, {.file = "greedy.txt"});
    check_search(compile, {.file = "beam4.txt", .beam_size = 4, .all = false});
    check_search(compile, {.file = "beam4.norm06.txt", .beam_size = 4, .normalize = 0.6F});
  }
};

TEST_P(Architectures, AgreesWithMarian) { check_all({}); }

TEST_P(Architectures, AgreesWithMarianWithoutPasses) {
  if (has("score.txt")) return check_scores({.passes = "none"});
  check_search({.passes = "none"}, {.file = "greedy.txt"});
}

TEST_P(Architectures, AgreesWithMarianByInterpreter) { check_all({.backend = "reference"}); }

TEST_P(Architectures, AgreesWithMarianOnCuda) {
  if (const auto reason = support::why_no_cuda()) GTEST_SKIP() << *reason;
  const std::size_t lines = support::emulates_cuda() ? 3 : 1000;
  if (has("score.txt")) return check_scores({.backend = "cuda"});
  check_search({.backend = "cuda"}, {.file = "greedy.txt"}, lines);
  check_search({.backend = "cuda"}, {.file = "beam4.norm06.txt", .beam_size = 4, .normalize = 0.6F},
               lines);
}

INSTANTIATE_TEST_SUITE_P(Cases, Architectures, ::testing::ValuesIn(all_cases()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace fuselage
