// Lines with a beam and an n-best list of their own, beside others, against translators with these
// options.

#include <gmock/gmock.h>

#include "fuselage/decoding/translation_queue.h"
#include "fuselage/decoding/translator.h"
#include "tests/decoding/support.h"

namespace fuselage::line_beam_test {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> kLines = {"▁How ▁do ▁I ▁do ▁this ?", "▁I ▁am ▁a ▁man .", "▁Tom",
                                         "▁What ▁is ▁it ▁that ▁you ▁want ▁me ▁to ▁do ?"};

struct Case {
  std::string model;
  bool guided = false;
  bool keep_beam = false;
  float normalize = 0;
  std::int32_t min_length = 0;
};

std::ostream& operator<<(std::ostream& out, const Case& test) { return out << test.model; }

class LineBeam : public ::testing::TestWithParam<Case> {
 protected:
  static Translator with_beam(std::int32_t beam) {
    const Case& test = GetParam();
    TranslatorOptions options{.beam_size = beam, .normalize = test.normalize, .threads = 1};
    options.guided = test.guided;
    options.keep_beam = test.keep_beam;
    options.min_length = test.min_length;
    options.vocabularies.paths = support::vocabularies();
    return Translator(support::conformance_case(test.model) + "/model.npz", options);
  }

  static LineGuide guide(std::size_t i) {
    LineGuide guide;
    if (GetParam().guided && i % 2 == 0) guide.prefix = "▁Ich";
    if (GetParam().guided && i % 2 == 1) guide.terms = {{"▁Sie"}, {"▁das", "▁du"}};
    guide.beam_size = static_cast<std::int32_t>(2 + i % 3);
    guide.n_best = static_cast<std::int32_t>(i % 3);
    return guide;
  }
};

void expect_same(const Translation& found, const Translation& expected, std::size_t n_best) {
  ASSERT_EQ(found.n_best.size(), std::min(n_best, expected.n_best.size()));
  for (std::size_t i = 0; i < found.n_best.size(); ++i) {
    EXPECT_EQ(found.n_best[i].text, expected.n_best[i].text);
    EXPECT_EQ(found.n_best[i].hypothesis.score, expected.n_best[i].hypothesis.score);
  }
}

TEST_P(LineBeam, GivesTheTranslationOfATranslatorWithThatBeam) {
  const Translator translator = with_beam(4);
  TranslationQueue queue(translator, {.places = 3});
  std::vector<std::future<Translation>> queued;
  for (std::size_t i = 0; i < kLines.size(); ++i)
    queued.push_back(queue.submit(kLines[i], {.guide = guide(i)}));
  for (std::size_t i = 0; i < kLines.size(); ++i) {
    LineGuide without = guide(i);
    const Translator other = with_beam(without.beam_size);
    const auto n_best = static_cast<std::size_t>(without.n_best > 0 ? without.n_best : 4);
    without.beam_size = without.n_best = 0;
    const Translation expected = other.translate(kLines[i], without);
    expect_same(translator.translate(kLines[i], guide(i)), expected, n_best);
    expect_same(queued[i].get(), expected, n_best);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, LineBeam,
    ::testing::Values(Case{.model = "s2s-basic"},
                      Case{.model = "transformer-post", .guided = true, .normalize = 0.6f},
                      Case{.model = "transformer-ssru", .keep_beam = true, .normalize = 1},
                      Case{.model = "nematus", .min_length = 4}),
    [](const auto& test) { return std::to_string(test.index); });

TEST(LineBeamErrors, NameBothNumbers) {
  TranslatorOptions options{.beam_size = 3, .threads = 1};
  options.vocabularies.paths = support::vocabularies();
  options.keep_beam = true;
  const Translator translator(support::conformance_case("transformer-post") + "/model.npz",
                              options);
  const auto message = [&](const LineGuide& guide) -> std::string {
    try {
      translator.translate("▁Tom", guide);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message({.beam_size = 4}), HasSubstr("beam-size is 4, it must be from 1 to that"));
  EXPECT_THAT(message({.beam_size = -1}), HasSubstr("beam-size is -1"));
  EXPECT_THAT(message({.beam_size = 2, .n_best = 3}), HasSubstr("n-best is 3"));
  EXPECT_THAT(message({.beam_size = 1}), HasSubstr("keep-beam"));
  EXPECT_EQ(message({.beam_size = 2, .n_best = 1}), "");
}

}  // namespace
}  // namespace fuselage::line_beam_test
