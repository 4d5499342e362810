// Searches of sentences that come and go, against searches of one batch.

#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <random>

#include "fuselage/backends/compile.h"
#include "fuselage/decoding/beam_search.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/models/load_model.h"
#include "models/architectures/scores.h"
#include "tests/decoding/support.h"
#include "text/vocabulary.h"

namespace fuselage::search_places_test {
namespace {

struct Case {
  std::string model;
  SearchOptions options;
  Precision precision = Precision::fp32;
  KvCache kv_cache = KvCache::fp32;
  bool shortlists = false;
};

class SearchPlaces : public ::testing::TestWithParam<Case> {
 protected:
  SearchPlaces() {
    const auto vocabulary = load_vocabulary(support::vocabularies()[0]);
    std::ifstream input(support::conformance_case("transformer-post") + "/input.sp.en");
    for (std::string line; std::getline(input, line) && sentences_.size() < 40;)
      sentences_.push_back(vocabulary->encode(line));
    const Case& test = GetParam();
    make_lists(static_cast<std::int32_t>(vocabulary->size()));
    options_ = test.options;
    options_.end_id = vocabulary->end_id();
    const Model model = load_model(support::conformance_case(test.model) + "/model.npz");
    options_.early_stop = never_above_zero(model.graph, scores_of(model.graph));
    executable_ = compile(with_search_head(model.graph, SearchHead::k_best,
                                           {.k = BeamSearch::candidates_per_row(options_),
                                            .alignment = options_.alignment,
                                            .shortlist = test.shortlists,
                                            .listed = options_.guided}),
                          model.weights, {.precision = test.precision, .kv_cache = test.kv_cache});
  }

  /// A third of the sentences begins with a word; another has a term, if terms are allowed.
  SearchGuide guide(std::size_t s) const {
    SearchGuide guide;
    if (s % 3 == 0) guide.prefix = {sentences_[s][0]};
    if (s % 3 == 1 && options_.guided) guide.terms = {{{sentences_[s][1], 7}}};
    return guide;
  }

  /// Every sentence lists the end symbol and a third of the other words.
  void make_lists(std::int32_t words) {
    std::mt19937 random(5);
    for (std::size_t s = 0; GetParam().shortlists && s < sentences_.size(); ++s) {
      WordIds& list = lists_.emplace_back(WordIds{0});
      for (std::int32_t word = 1; word < words; ++word)
        if (random() % 3 == 0) list.push_back(word);
    }
  }

  std::vector<NBest> by_batch() const {
    std::vector<SearchGuide> guides;
    for (std::size_t s = 0; s < sentences_.size(); ++s) guides.push_back(guide(s));
    return BeamSearch(*executable_, options_).search(sentences_, lists_, guides);
  }

  std::vector<WordIds> sentences_, lists_;
  SearchOptions options_;
  std::unique_ptr<const Executable> executable_;
};

/// Sentences that arrive at random in a few places, and sometimes leave early.
class Arrivals {
 public:
  Arrivals(BeamSearch& search, std::span<const WordIds> lists, unsigned seed)
      : search_(search), all_lists_(lists), random_(seed) {}

  template <typename Sentences, typename Guide>
  std::map<std::size_t, NBest> run(const Sentences& sentences, const Guide& guide) {
    while (next_ < sentences.size() || search_.taken() > 0) {
      if (search_.taken() == 0 || random_() % 3 == 0) admit(sentences, guide);
      if (search_.taken() > 0 && random_() % 16 == 0) drop_one();
      if (search_.taken() == 0) continue;
      const auto ended = search_.step();
      most_ = std::max(most_, search_.taken());
      for (const std::int32_t place : ended) {
        results_[at_.at(place)] = search_.take(place);
        at_.erase(place);
      }
    }
    return results_;
  }

  std::size_t most_together() const { return most_; }
  std::size_t dropped() const { return dropped_; }

 private:
  template <typename Sentences, typename Guide>
  void admit(const Sentences& sentences, const Guide& guide) {
    std::vector<WordIds> batch, lists;
    std::vector<SearchGuide> guides;
    std::vector<std::int32_t> places;
    for (std::size_t wanted = 1 + random_() % 3; wanted > 0 && next_ < sentences.size(); --wanted) {
      const auto place = search_.reserve(std::ssize(sentences[next_]), guide(next_));
      if (!place) break;
      at_[*place] = next_;
      places.push_back(*place);
      batch.push_back(sentences[next_]);
      if (!all_lists_.empty()) lists.push_back(all_lists_[next_]);
      guides.push_back(guide(next_++));
    }
    if (!batch.empty()) search_.admit({.sentences = batch, .shortlists = lists}, guides, places);
  }

  void drop_one() {
    search_.drop(at_.begin()->first);
    at_.erase(at_.begin());
    ++dropped_;
  }

  BeamSearch& search_;
  std::span<const WordIds> all_lists_;
  std::mt19937 random_;
  std::map<std::int32_t, std::size_t> at_;
  std::map<std::size_t, NBest> results_;
  std::size_t next_ = 0, most_ = 0, dropped_ = 0;
};

void expect_same_results(const std::map<std::size_t, NBest>& found,
                         const std::vector<NBest>& expected) {
  for (const auto& [s, results] : found) {
    ASSERT_EQ(results.size(), expected[s].size()) << "sentence " << s;
    for (std::size_t i = 0; i < results.size(); ++i) {
      EXPECT_EQ(results[i].words, expected[s][i].words) << "sentence " << s;
      EXPECT_EQ(results[i].score, expected[s][i].score) << "sentence " << s;
      EXPECT_EQ(results[i].word_scores, expected[s][i].word_scores) << "sentence " << s;
      EXPECT_EQ(results[i].alignment, expected[s][i].alignment) << "sentence " << s;
    }
  }
}

TEST_P(SearchPlaces, GivesTheBytesOfABatch) {
  const std::vector<NBest> expected = by_batch();
  BeamSearch search(*executable_, options_);
  ASSERT_TRUE(search.has_places());
  for (const unsigned seed : {1u, 2u, 3u}) {
    search.open(7, 7 * 48);
    Arrivals arrivals(search, lists_, seed);
    const auto found = arrivals.run(sentences_, [this](std::size_t s) { return guide(s); });
    EXPECT_EQ(found.size() + arrivals.dropped(), sentences_.size());
    EXPECT_GT(found.size(), sentences_.size() / 3);
    EXPECT_GE(arrivals.most_together(), 4u);
    expect_same_results(found, expected);
  }
}

TEST_P(SearchPlaces, TakesBatchesAgain) {
  const std::vector<NBest> expected = by_batch();
  BeamSearch search(*executable_, options_);
  search.open(2, 100);
  const auto place = search.reserve(std::ssize(sentences_[1]), {});
  const auto lists = std::span(lists_).subspan(0, std::min<std::size_t>(lists_.size(), 1));
  search.admit({.sentences = std::span(sentences_).subspan(1, 1), .shortlists = lists}, {},
               {{*place}});
  search.step();
  std::vector<SearchGuide> guides;
  for (std::size_t s = 0; s < sentences_.size(); ++s) guides.push_back(guide(s));
  const std::vector<NBest> after = search.search(sentences_, lists_, guides);
  for (std::size_t s = 0; s < expected.size(); ++s)
    EXPECT_EQ(after[s].front().score, expected[s].front().score);
}

INSTANTIATE_TEST_SUITE_P(
    Models, SearchPlaces,
    ::testing::Values(
        Case{"s2s-basic", {.beam_size = 1}},
        Case{"s2s-basic", {.beam_size = 4, .normalize = 0.6f, .n_best = 2}},
        Case{"nematus", {.beam_size = 3, .alignment = true}}, Case{"amun", {.beam_size = 5}},
        Case{"transformer-post", {.beam_size = 4, .normalize = 1, .alignment = true}},
        Case{"transformer-post", {.beam_size = 4}, Precision::int8, KvCache::int8},
        Case{"transformer-pre", {.beam_size = 1}, Precision::int8},
        Case{"transformer-ssru",
             {.beam_size = 6, .coverage_penalty = 0.2f, .alignment = true},
             Precision::int8},
        Case{"transformer-post", {.beam_size = 3}, Precision::int8, KvCache::fp32, true},
        Case{"s2s-basic", {.beam_size = 4}, Precision::fp32, KvCache::fp32, true},
        Case{"transformer-ssru", {.beam_size = 4, .guided = true}, Precision::int8},
        Case{"nematus", {.beam_size = 3, .guided = true}, Precision::int16, KvCache::fp32, true},
        Case{"transformer-deepssru", {.beam_size = 2, .min_length = 4, .keep_beam = true}}),
    [](const auto& test) { return std::to_string(test.index); });

TEST(SearchPlacesBounds, AdmitsASentenceOnlyIfItsLongestSearchFits) {
  const Model model = load_model(support::small_model());
  const SearchOptions options{.beam_size = 2, .max_length_factor = 2};
  const auto executable = compile(with_search_head(model.graph, SearchHead::k_best,
                                                   {.k = BeamSearch::candidates_per_row(options)}),
                                  model.weights, {});
  BeamSearch search(*executable, options);
  // Three places, 48 rows in pages of 16, and 3 × 2 × 20 words.
  search.open(3, 3 * 10);
  EXPECT_EQ(search.reserve(49, {}), std::nullopt) << "too many source words";
  EXPECT_EQ(search.reserve(40, {}), std::nullopt) << "too many words of hypotheses";
  const auto first = search.reserve(5, {});
  EXPECT_NE(first, std::nullopt);
  EXPECT_NE(search.reserve(25, {}), std::nullopt);
  EXPECT_EQ(search.reserve(1, {}), std::nullopt) << "no page is free";
  search.drop(*first);
  EXPECT_NE(search.reserve(1, {}), std::nullopt);
}

TEST(SearchPlacesBounds, HaveRoomForALongPrefixOfAShortTranslation) {
  const Model model = load_model(support::small_model());
  const SearchOptions options{.beam_size = 2, .max_words = 3};
  const auto executable = compile(with_search_head(model.graph, SearchHead::k_best,
                                                   {.k = BeamSearch::candidates_per_row(options)}),
                                  model.weights, {});
  BeamSearch search(*executable, options);
  const SearchGuide guide{.prefix = WordIds(20, 5)};
  search.open(1, 64);
  EXPECT_EQ(search.reserve(4, guide), std::nullopt);
  search.open(1, 64, guide.prefix.size());
  EXPECT_NE(search.reserve(64, guide), std::nullopt);
}

}  // namespace
}  // namespace fuselage::search_places_test
