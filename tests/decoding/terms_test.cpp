// Searches whose translations have to contain terms.

#include <gmock/gmock.h>

#include <algorithm>

#include "fuselage/backends/compile.h"
#include "fuselage/decoding/beam_search.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/models/load_model.h"
#include "support.h"

namespace fuselage::terms_test {
namespace {

using ::testing::SizeIs;

constexpr std::int32_t kWords = 40;  // of the small model
const std::vector<WordIds> kSources{{11, 7, 25, 4, 0}, {9, 0}, {30, 31, 5, 6, 0}};

bool contains(const WordIds& words, const WordIds& form) {
  // clang 14 rejects std::ranges::search of libstdc++ 12.
  return std::search(words.begin(), words.end(), form.begin(), form.end()) != words.end();
}

class Terms : public ::testing::Test {
 protected:
  std::unique_ptr<Executable> compiled(bool shortlist = false) const {
    return compile(with_search_head(model_.graph, SearchHead::k_best,
                                    {.k = BeamSearch::candidates_per_row(options_),
                                     .shortlist = shortlist,
                                     .listed = options_.guided}),
                   model_.weights);
  }

  Model model_ = load_model(support::small_model());
  SearchOptions options_{.beam_size = 6, .normalize = 0.6f, .early_stop = true, .guided = true};
};

void expect_same(const NBest& a, const NBest& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].words, b[i].words);
    EXPECT_EQ(a[i].word_scores, b[i].word_scores);
    EXPECT_EQ(a[i].score, b[i].score);
  }
}

TEST_F(Terms, AreInEveryHypothesisThatEnds) {
  const auto executable = compiled();
  BeamSearch search(*executable, options_);
  for (std::int32_t word = 3; word + 2 < kWords; ++word) {
    const std::vector<TermForms> terms{{{word, word + 1}}, {{word + 2}}};
    const std::vector<SearchGuide> guides{{.terms = terms}, {.terms = {{{2}}}}, {.terms = terms}};
    const std::vector<NBest> found = search.search(kSources, {}, guides);
    for (std::size_t s = 0; s < kSources.size(); ++s) {
      ASSERT_FALSE(found[s].empty());
      for (const Hypothesis& hypothesis : found[s]) {
        if (hypothesis.words.back() != options_.end_id) continue;
        for (const TermForms& forms : guides[s].terms)
          EXPECT_TRUE(contains(hypothesis.words, forms[0])) << word << " " << s;
      }
    }
  }
}

TEST_F(Terms, OfASentenceDoNotChangeOthers) {
  const auto executable = compiled();
  BeamSearch search(*executable, options_);
  const std::vector<SearchGuide> guides{
      {.terms = {{{14, 3}}}}, {}, {.prefix = {22}, .terms = {{{8}, {9, 4}}}}};
  const std::vector<NBest> together = search.search(kSources, {}, guides);
  for (std::size_t s = 0; s < kSources.size(); ++s)
    expect_same(together[s], search.search(std::span(kSources).subspan(s, 1), {},
                                           std::span(guides).subspan(s, 1))[0]);
  options_.guided = false;
  const auto plain = compiled();
  expect_same(together[1], BeamSearch(*plain, options_).search(kSources)[1]);
}

TEST_F(Terms, ThatATranslationHasAnywayDoNotChangeTheBestOne) {
  options_.beam_size = 12;
  const auto executable = compiled();
  BeamSearch search(*executable, options_);
  const std::vector<NBest> free = search.search(kSources);
  std::vector<SearchGuide> guides;
  for (const NBest& n_best : free) guides.push_back({.terms = {{{n_best[0].words[0]}}}});
  const std::vector<NBest> found = search.search(kSources, {}, guides);
  for (std::size_t s = 0; s < kSources.size(); ++s) EXPECT_EQ(found[s][0].words, free[s][0].words);
}

TEST_F(Terms, AreAddedToShortlists) {
  const auto executable = compiled(true);
  BeamSearch search(*executable, options_);
  const std::vector<WordIds> lists(kSources.size(), WordIds{0, 5, 6, 7, 8, 12, 13});
  const std::vector<SearchGuide> guides(kSources.size(), {.terms = {{{31, 3}}}});
  const std::vector<NBest> found = search.search(kSources, lists, guides);
  for (const NBest& n_best : found) {
    EXPECT_TRUE(contains(n_best[0].words, {31, 3}));
    for (const std::int32_t word : n_best[0].words)
      EXPECT_TRUE(word == 31 || word == 3 || std::ranges::binary_search(lists[0], word));
  }
}

TEST_F(Terms, ThatDoNotFitIntoTheLengthLimitAreMissing) {
  options_.max_words = 2;
  const auto executable = compiled();
  BeamSearch search(*executable, options_);
  const std::vector<NBest> found = search.search(
      std::span(kSources).first(1), {}, std::vector<SearchGuide>{{.terms = {{{14, 3, 8}}}}});
  ASSERT_FALSE(found[0].empty());
  for (const Hypothesis& hypothesis : found[0]) EXPECT_THAT(hypothesis.words, SizeIs(2));
}

}  // namespace
}  // namespace fuselage::terms_test
