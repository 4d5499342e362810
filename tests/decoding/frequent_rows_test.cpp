// Tables of the most frequent rows change how long a translation takes, and no bit of it.

#include <gmock/gmock.h>

#include <fstream>

#include "backends/bake.h"
#include "base/files/file.h"
#include "decoding/lines/word_ranks.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/beam_search.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/models/directory/model_directory.h"
#include "models/marian/marian_loader.h"
#include "support.h"

namespace fuselage {
namespace {

using support::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A model, some sentences, and how to search them.
class FrequentRows : public ::testing::TestWithParam<std::string> {
 protected:
  FrequentRows() : model_(load_marian(data() + "/" + GetParam() + "/model.npz")) {
    pair_ = load_vocabulary_pair(model_, {.paths = support::vocabularies()});
    std::ifstream input(data() + "/" + GetParam() + "/input.sp.en");
    for (std::string line; std::getline(input, line);)
      sentences_.push_back(pair_.source->encode(line));
    search_ = {.beam_size = 4,
               .max_length_factor = 2,
               .end_id = pair_.target->end_id(),
               .suppressed = {pair_.target->unknown_id()}};
  }

  static std::string data() { return FUSELAGE_TEST_DATA; }

  /// A frequency list in reverse order of id, in `folder`.
  std::string reverse_list(const TemporaryFolder& folder) const {
    std::string text;
    for (WordId id = pair_.source->size(); id-- > 0;)
      if (!pair_.source->word(id).empty()) text += std::string(pair_.source->word(id)) + "\n";
    std::string path = folder / "words.txt";
    write_file_atomically(path, text);
    return path;
  }

  std::vector<NBest> translate(const Model& model, const CompileOptions& options,
                               std::vector<TableUse>* tables = nullptr) const {
    const auto executable =
        compile(with_search_head(model.graph, SearchHead::k_best,
                                 {.k = BeamSearch::candidates_per_row(search_)}),
                model.weights, options);
    std::vector<NBest> found = BeamSearch(*executable, search_).search(sentences_);
    if (tables) *tables = executable->table_use();
    return found;
  }

  static void expect_same(const std::vector<NBest>& a, const std::vector<NBest>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t s = 0; s < a.size(); ++s) {
      ASSERT_EQ(a[s].size(), b[s].size());
      for (std::size_t h = 0; h < a[s].size(); ++h) {
        EXPECT_EQ(a[s][h].words, b[s][h].words);
        EXPECT_EQ(a[s][h].word_scores, b[s][h].word_scores);
      }
    }
  }

  /// Compiles with less and less memory, down to none; some tables must be partial.
  void expect_same_with_any_memory(const Model& model, const RankWeights& ranks) const {
    const std::vector<NBest> expected = translate(model, {.passes = "none"});
    std::uint64_t hits = 0, misses = 0;
    for (const double memory : {64.0, 0.3, 0.1, 0.05, 0.02, 0.01, 0.0}) {
      SCOPED_TRACE(memory);
      std::vector<TableUse> tables;
      expect_same(
          translate(model, {.exact = true, .precompute_memory = memory, .ranks = ranks}, &tables),
          expected);
      for (const TableUse& table : tables) {
        hits += table.hits;
        misses += table.lookups - table.hits;
        EXPECT_LT(table.rows, table.entries);
        EXPECT_NE(table.product, "");
      }
    }
    EXPECT_GT(hits, 0u) << "no table was partial, so nothing was tested";
    EXPECT_GT(misses, 0u);
  }

  Model model_;
  VocabularyPair pair_;
  std::vector<WordIds> sentences_;
  SearchOptions search_;
};

INSTANTIATE_TEST_SUITE_P(Models, FrequentRows, ::testing::Values("nematus", "transformer-ssru"),
                         [](const auto& model) {
                           return std::string(model.param, 0, model.param.find('-'));
                         });

/// Models that look embeddings up to multiply them, and do nothing else to them before.
class AnyMemory : public FrequentRows {};

INSTANTIATE_TEST_SUITE_P(Models, AnyMemory, ::testing::Values("nematus"));

TEST_P(AnyMemory, KeepsEveryBit) { expect_same_with_any_memory(model_, {}); }

TEST_P(AnyMemory, KeepsEveryBitInAnyOrder) {
  const TemporaryFolder folder;
  std::vector<std::string> notes;
  const RankWeights ranks = add_word_ranks(model_, pair_, reverse_list(folder), notes);
  expect_same_with_any_memory(model_, ranks);
}

TEST_P(FrequentRows, BakedTablesKeepEveryBit) {
  const TemporaryFolder folder;
  const std::vector<NBest> expected = translate(model_, {.passes = "none"});
  const std::vector<NBest> expected_default = translate(model_, {});
  std::vector<std::string> notes;
  const RankWeights ranks = add_word_ranks(model_, pair_, reverse_list(folder), notes);
  for (const double memory : {64.0, 0.05}) {
    SCOPED_TRACE(memory);
    Model baked = model_;
    bake(baked.graph, baked.weights, {.exact = true, .precompute_memory = memory, .ranks = ranks});
    save_model_directory(baked, support::vocabularies(), folder / "baked");
    const Model read = load_model_directory(folder / "baked", {});
    for (const char* passes : {"none", "all"})
      expect_same(translate(read, {.passes = passes, .exact = true}), expected);

    Model fast = model_;
    bake(fast.graph, fast.weights, {.precompute_memory = memory});
    expect_same(translate(fast, {}), expected_default);
  }
}

TEST_P(FrequentRows, BakedModelsComputeNothingAtLoad) {
  Model baked = model_;
  bake(baked.graph, baked.weights, {});
  for (const NodeId id : baked.graph.nodes()) {
    const Node& node = baked.graph.node(id);
    if (node.operands.empty() || node.results.empty()) continue;
    EXPECT_NE(baked.graph.binding(id), BindingTime::load) << baked.graph.describe(id);
  }
}

// --- Ranks ---

class WordRanks : public ::testing::Test {
 protected:
  WordRanks() : model_(load_marian(support::small_model())) {
    pair_ = load_vocabulary_pair(model_, {.paths = support::vocabularies()});
  }

  /// Ids in order of their rank, of the first vocabulary of the model.
  std::vector<WordId> order(const std::string& list) {
    write_file_atomically(path(), list);
    const RankWeights ranks = add_word_ranks(model_, pair_, path(), notes_);
    const Tensor& rank = model_.weights.at(ranks.begin()->second);
    std::vector<WordId> ids(static_cast<std::size_t>(rank.size()), -1);
    for (std::int64_t id = 0; id < rank.size(); ++id)
      ids.at(static_cast<std::size_t>(rank.data<std::int32_t>()[id])) = static_cast<WordId>(id);
    return ids;
  }

  std::string word(WordId id) const { return std::string(pair_.source->word(id)); }
  std::string path() const { return folder_ / "list.txt"; }

  TemporaryFolder folder_;
  Model model_;
  VocabularyPair pair_;
  std::vector<std::string> notes_;
};

TEST_F(WordRanks, FollowTheListBehindTheEndSymbol) {
  std::vector<WordId> ids = order(word(9) + "\n" + word(5) + "\r\n" + word(9) + "\n");
  ids.resize(6);
  EXPECT_THAT(ids, ElementsAre(pair_.source->end_id(), 9, 5, 1, 2, 3));
  EXPECT_THAT(notes_, ElementsAre());
}

TEST_F(WordRanks, FollowCounts) {
  std::vector<WordId> ids = order(word(7) + "\t3\n" + word(5) + " 40\n" + word(3) + " 3");
  ids.resize(5);
  EXPECT_THAT(ids, ElementsAre(pair_.source->end_id(), 5, 7, 3, 1));
}

TEST_F(WordRanks, PassOverWhatTheVocabularyLacksWithANote) {
  order("no_such_word\n" + word(5) + "\nneither\n");
  ASSERT_FALSE(notes_.empty());
  EXPECT_THAT(notes_[0], HasSubstr("2 of 3 words are not in the model's vocabulary"));
}

TEST_F(WordRanks, RefuseOtherFiles) {
  const auto message = [&](const std::string& list) -> std::string {
    try {
      order(list);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message("no_such_word\n"), HasSubstr("none of its 1 words is in a vocabulary"));
  EXPECT_THAT(message(""), HasSubstr("there is no word in it"));
  EXPECT_THAT(message("a\n\nb\n"), HasSubstr(":2: 0 fields"));
  EXPECT_THAT(message("12 the\n"), HasSubstr(":1: 'the' is no count"));
  EXPECT_THAT(message("a 1\nb\n"), HasSubstr(":2: some lines have a count"));
  EXPECT_THAT(message("a b c\n"), HasSubstr(":1: 3 fields"));
}

}  // namespace
}  // namespace fuselage
