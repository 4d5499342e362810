// A trained model of CTranslate2 against what CTranslate2 gave for it.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "decoding/search/forced_decoder.h"
#include "fuselage/backends/compile.h"
#include "fuselage/decoding/beam_search.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/decoding/translator.h"
#include "fuselage/models/load_model.h"
#include "tests/decoding/marian_output.h"
#include "tests/decoding/support.h"

namespace fuselage::ctranslate2_test {
namespace {

using support::fields_of;
using support::lines_of;
using support::numbers_of;

/// Of log-probabilities of given words.
constexpr double kTolerance = 2e-5;
/// Of the score of a search, by which CTranslate2's own search and scorer differ.
constexpr double kSearchTolerance = 3e-3;

/// The words of one side by their ids.
class Words {
 public:
  explicit Words(const std::string& path) : words_(lines_of(read_file(path))) {
    for (std::size_t i = 0; i < words_.size(); ++i) ids_[words_[i]] = static_cast<std::int32_t>(i);
  }

  std::int32_t id(const std::string& word) const {
    const auto found = ids_.find(word);
    return found == ids_.end() ? static_cast<std::int32_t>(words_.size()) : found->second;
  }

  WordIds ids(const std::string& line) const {
    WordIds result;
    std::istringstream stream(line);
    for (std::string word; stream >> word;) result.push_back(id(word));
    return result;
  }

  std::string text(const WordIds& ids) const {
    std::string result;
    for (const std::int32_t id : ids)
      if (const std::string& word = words_.at(static_cast<std::size_t>(id)); word != "</s>")
        result += (result.empty() ? "" : " ") + word;
    return result;
  }

 private:
  std::vector<std::string> words_;
  std::map<std::string, std::int32_t> ids_;
};

class Ctranslate2Conformance : public ::testing::TestWithParam<std::string> {
 protected:
  static std::string file(const std::string& name) {
    return support::conformance_case("ct2-aren") + "/" + name;
  }

  CompileOptions options() const { return {.backend = GetParam()}; }
  std::size_t count() const { return GetParam() == "reference" ? 5 : 60; }

  std::vector<WordIds> sources() const {
    std::vector<WordIds> ids;
    for (const std::string& line : lines_of(read_file(file("input.txt"))))
      if (ids.size() < count()) ids.push_back(source_.ids(line));
    return ids;
  }

  std::vector<NBest> search(std::int32_t beam, float normalize) const {
    const SearchOptions settings{.beam_size = beam,
                                 .normalize = normalize,
                                 .max_words = 100,
                                 .end_id = target_.id("</s>"),
                                 .suppressed = {target_.id("<unk>")}};
    const auto executable = compile(
        with_search_head(model_.graph, SearchHead::k_best,
                         {.k = BeamSearch::candidates_per_row(settings), .alignment = false}),
        model_.weights, options());
    return BeamSearch(*executable, settings).search(sources());
  }

  Model model_ = load_model(support::conformance_case("ct2-aren"));
  Words source_{file("source_vocabulary.txt")}, target_{file("target_vocabulary.txt")};
};

TEST_P(Ctranslate2Conformance, Greedy) {
  const std::vector<NBest> results = search(1, 0);
  const auto expected = lines_of(read_file(file("expected.greedy.txt")));
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto fields = fields_of(expected[i]);
    const Hypothesis& best = results[i].at(0);
    EXPECT_EQ(target_.text(best.words), fields[1]) << "line " << i + 1;
    EXPECT_NEAR(best.score, numbers_of(fields[2])[0], kSearchTolerance) << "line " << i + 1;
  }
}

TEST_P(Ctranslate2Conformance, BestOfABeam) {
  const std::vector<NBest> results = search(4, 1);
  std::map<std::string, std::vector<std::string>> first;
  for (const std::string& line : lines_of(read_file(file("expected.4-best.txt"))))
    first.emplace(fields_of(line)[0], fields_of(line));
  // Beams of CTranslate2 do not shrink as hypotheses end, so few translations differ.
  std::size_t different = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto& fields = first.at(std::to_string(i));
    const Hypothesis& best = results[i].at(0);
    if (target_.text(best.words) != fields[1])
      ++different;
    else
      EXPECT_NEAR(best.score, numbers_of(fields[2])[0], kSearchTolerance) << "line " << i + 1;
  }
  EXPECT_LE(different, 2U);
}

TEST_P(Ctranslate2Conformance, Scores) {
  const auto executable = compile(with_search_head(model_.graph, SearchHead::log_probabilities),
                                  model_.weights, options());
  ForcedDecoder decoder(*executable, false);
  const auto greedy = lines_of(read_file(file("expected.greedy.txt")));
  const auto expected = lines_of(read_file(file("expected.score.txt")));
  std::vector<WordIds> targets;
  for (std::size_t i = 0; i < count(); ++i) {
    targets.push_back(target_.ids(fields_of(greedy[i])[1]));
    targets.back().push_back(target_.id("</s>"));
  }
  const auto results = decoder.score(sources(), targets);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto numbers = numbers_of(expected[i]);
    ASSERT_EQ(results[i].word_scores.size(), numbers.size());
    for (std::size_t w = 0; w < numbers.size(); ++w)
      EXPECT_NEAR(results[i].word_scores[w], numbers[w], kTolerance) << "line " << i + 1;
  }
}

TEST(Ctranslate2Directory, TranslatesTextByItsOwnVocabularies) {
  const std::string folder = support::conformance_case("ct2-aren");
  const Translator translator(folder, {.beam_size = 1});
  const auto expected = lines_of(read_file(folder + "/expected.greedy.txt"));
  std::size_t i = 0;
  for (const std::string& line : lines_of(read_file(folder + "/input.txt"))) {
    EXPECT_EQ(translator.translate(line).text(), fields_of(expected.at(i))[1]) << "line " << i + 1;
    ++i;
  }
  EXPECT_EQ(i, expected.size());
}

INSTANTIATE_TEST_SUITE_P(Backends, Ctranslate2Conformance, ::testing::Values("cpu", "reference"),
                         [](const auto& backend) { return backend.param; });

}  // namespace
}  // namespace fuselage::ctranslate2_test
