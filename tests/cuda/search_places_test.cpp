// Searches of sentences that come and go on a device, against searches of one batch.

#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <random>

#include "backends/cuda/device/executor/cuda_executable.h"
#include "backends/cuda/device/kernel/kernel_registry.h"
#include "backends/cuda/kernel_table.h"
#include "device_array.h"
#include "fuselage/backends/compile.h"
#include "fuselage/decoding/beam_search.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/models/load_model.h"

namespace fuselage::cuda::search_places_test {
namespace {

struct Case {
  const char* model;
  SearchOptions options;
  Precision precision = Precision::fp32;
  KvCache kv_cache = KvCache::fp32;
};

class CudaSearchPlaces : public CudaTest, public ::testing::WithParamInterface<Case> {
 protected:
  CudaSearchPlaces() {
    std::mt19937 random(1);
    for (int s = 0; s < 16; ++s) {
      WordIds& words = sentences_.emplace_back(random() % 5);
      for (std::int32_t& word : words) word = 2 + static_cast<std::int32_t>(random() % 60);
      words.push_back(0);
    }
    options_.max_length_factor = 1.5f;
  }

  void SetUp() override {
    CudaTest::SetUp();
    if (IsSkipped()) return;
    const Model model =
        load_model(std::string(FUSELAGE_TEST_DATA) + "/" + GetParam().model + "/model.npz");
    Graph graph = with_search_head(model.graph, SearchHead::k_best,
                                   {.k = BeamSearch::candidates_per_row(options_),
                                    .alignment = options_.alignment,
                                    .listed = options_.guided});
    optimize(graph, {.backend = "cuda",
                     .precision = GetParam().precision,
                     .kv_cache = GetParam().kv_cache,
                     .cuda = {.deterministic = true}});
    executable_ =
        make_cuda_executable(split_by_binding_time(graph), model.weights,
                             {.blas = {.deterministic = true}}, cuda_kernels(), kernel_registry());
  }

  SearchOptions options_ = GetParam().options;
  std::vector<WordIds> sentences_;
  std::unique_ptr<const Executable> executable_;
};

/// Sentences that arrive at random in a few places, and sometimes leave early.
class Arriving {
 public:
  Arriving(BeamSearch& search, const std::vector<WordIds>& sentences, unsigned seed)
      : search_(search), sentences_(sentences), random_(seed) {}

  std::map<std::size_t, NBest> run() {
    while (next_ < sentences_.size() || search_.taken() > 0) {
      if (search_.taken() == 0 || random_() % 3 == 0) admit();
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
  void admit() {
    std::vector<WordIds> batch;
    std::vector<std::int32_t> places;
    for (auto wanted = 1 + random_() % 3; wanted > 0 && next_ < sentences_.size(); --wanted) {
      const auto place = search_.reserve(std::ssize(sentences_[next_]), {});
      if (!place) break;
      at_[*place] = next_;
      places.push_back(*place);
      batch.push_back(sentences_[next_++]);
    }
    if (!batch.empty()) search_.admit({.sentences = batch}, {}, places);
  }

  void drop_one() {
    search_.drop(at_.begin()->first);
    at_.erase(at_.begin());
    ++dropped_;
  }

  BeamSearch& search_;
  const std::vector<WordIds>& sentences_;
  std::mt19937 random_;
  std::map<std::int32_t, std::size_t> at_;
  std::map<std::size_t, NBest> results_;
  std::size_t next_ = 0, most_ = 0, dropped_ = 0;
};

void expect_same(const NBest& found, const NBest& expected, std::size_t sentence) {
  ASSERT_EQ(found.size(), expected.size()) << "sentence " << sentence;
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].words, expected[i].words) << "sentence " << sentence;
    EXPECT_EQ(found[i].score, expected[i].score) << "sentence " << sentence;
    EXPECT_EQ(found[i].word_scores, expected[i].word_scores) << "sentence " << sentence;
    EXPECT_EQ(found[i].alignment, expected[i].alignment) << "sentence " << sentence;
  }
}

TEST_P(CudaSearchPlaces, GiveTheBytesOfABatchBeforeAndAfterBatches) {
  BeamSearch search(*executable_, options_);
  ASSERT_TRUE(search.has_places());
  const std::vector<NBest> expected = search.search(sentences_);
  for (const unsigned seed : {1u, 2u}) {
    search.open(5, 5 * 12, /*prefix=*/std::nullopt);
    Arriving arrivals(search, sentences_, seed);
    const auto found = arrivals.run();
    EXPECT_EQ(found.size() + arrivals.dropped(), sentences_.size());
    EXPECT_GE(arrivals.most_together(), 3u);
    for (const auto& [s, results] : found) expect_same(results, expected[s], s);
    if (seed == 2) continue;
    const std::vector<NBest> again = search.search(sentences_);
    for (std::size_t s = 0; s < again.size(); ++s) expect_same(again[s], expected[s], s);
  }
}

INSTANTIATE_TEST_SUITE_P(
    OnTheHost, CudaSearchPlaces,
    ::testing::Values(
        Case{"nematus", {.beam_size = 3, .normalize = 0.6f, .alignment = true}},
        Case{"transformer-post", {.beam_size = 2, .min_length = 3}},
        Case{"transformer-post", {.beam_size = 2, .alignment = true}, Precision::bf16}),
    [](const auto& test) { return std::to_string(test.index); });

INSTANTIATE_TEST_SUITE_P(
    OnTheDevice, CudaSearchPlaces,
    ::testing::Values(Case{"nematus",
                           {.beam_size = 3, .normalize = 0.6f, .n_best = 2, .suppressed = {5, 9}}},
                      Case{"transformer-post", {.beam_size = 3}},
                      Case{"transformer-post", {.beam_size = 3}, Precision::bf16},
                      Case{"transformer-post", {.beam_size = 2}, Precision::fp16},
                      Case{"transformer-ssru", {.beam_size = 1}, Precision::int8}),
    [](const auto& test) { return std::to_string(test.index); });

}  // namespace
}  // namespace fuselage::cuda::search_places_test
