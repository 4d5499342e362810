// With --exact the optimizer changes how a model is computed, and no bit of what comes out.

#include <gmock/gmock.h>

#include <fstream>

#include "fuselage/backends/compile.h"
#include "fuselage/decoding/beam_search.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/models/load_model.h"
#include "text/vocabulary.h"

namespace fuselage {
namespace {

class ExactPasses : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Models, ExactPasses,
                         ::testing::Values("nematus", "transformer-post", "transformer-ssru",
                                           "en-de"),
                         [](const auto& model) {
                           std::string name = model.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(ExactPasses, KeepEveryBit) {
  const std::string data = FUSELAGE_TEST_DATA;
  // The bundled model is stored in integers: its floats are made when it is loaded.
  const bool bundled = GetParam() == "en-de";
  const std::string directory = std::string(FUSELAGE_SOURCE_DIR) + "/models/en-de";
  const auto vocabulary = load_vocabulary(bundled ? directory + "/vocab.spm" : data + "/vocab.yml");
  const Model model = load_model(bundled ? directory : data + "/" + GetParam() + "/model.npz");
  const SearchOptions options{.beam_size = 4,
                              .max_length_factor = 2,
                              .end_id = vocabulary->end_id(),
                              .suppressed = {vocabulary->unknown_id()},
                              .alignment = true};
  std::vector<WordIds> sentences;
  std::ifstream input(data + "/" + (bundled ? "nematus" : GetParam()) + "/input.sp.en");
  for (std::string line; std::getline(input, line);) sentences.push_back(vocabulary->encode(line));
  ASSERT_EQ(sentences.size(), 40u);

  Graph graph = with_search_head(model.graph, SearchHead::k_best,
                                 {.k = BeamSearch::candidates_per_row(options)});
  const auto search = [&](const CompileOptions& compile_options) {
    const auto executable = compile(graph, model.weights, compile_options);
    return BeamSearch(*executable, options).search(sentences);
  };
  const std::vector<NBest> plain = search({.passes = "none"});
  const std::vector<NBest> exact = search({.exact = true});
  for (std::size_t s = 0; s < sentences.size(); ++s) {
    ASSERT_EQ(plain[s].size(), exact[s].size());
    for (std::size_t h = 0; h < plain[s].size(); ++h) {
      EXPECT_EQ(plain[s][h].words, exact[s][h].words);
      EXPECT_EQ(plain[s][h].word_scores, exact[s][h].word_scores);
      EXPECT_EQ(plain[s][h].alignment, exact[s][h].alignment);
    }
  }

  const std::vector<PassRecord> records = optimize(graph, {.exact = true});
  EXPECT_TRUE(std::any_of(records.begin(), records.end(), [](const PassRecord& record) {
    return record.rewrites.contains("embeddings");
  })) << "nothing was moved, so nothing was tested";
}

}  // namespace
}  // namespace fuselage
