// A shortlist from the graph to the kernel: what a whole pipeline makes of it, and what runs it.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <random>

#include "backends/cpu/runtime/isa.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/error.h"
#include "fuselage/graph/text.h"
#include "fuselage/ops/registry.h"
#include "support.h"

namespace fuselage::shortlist_test {
namespace {

using support::random_sentences;

constexpr std::int64_t kWords = 50;
constexpr std::int64_t kBest = 6;

constexpr std::string_view kDeclarations = R"(fuselage.graph 1
domain words = vocabulary 50
domain sentence = sentence
domain parent = parent of sentence
domain hyp = hypothesis of parent
domain shortlist = shortlist of sentence
domain pairs = pairs of hyp, shortlist
map hyp.word : hyp -> words partial
map shortlist.word : shortlist -> words
%table = param() {name = "table", domain = words, dims = [37]}
%w = param() {name = "w", dims = [37, 50]}
%b = param() {name = "b", dims = [50]}
%at = position() {domain = hyp}
%signal = sinusoid(%at) {dim = 38}
%age = slice(%signal) {begin = 0, end = 37}
%last = select_rows(%table) {via = [hyp.word]}
%x = add(%last, %age)
)";

constexpr std::string_view kTied = "%p = matmul(%x, %table) {transposed = true}\n";
constexpr std::string_view kUntied = "%p = matmul(%x, %w)\n";
constexpr std::string_view kScores = R"(
%l = add(%p, %b)
%e = select_elements(%l) {row = [pairs.left], element = [pairs.right, shortlist.word]}
%s = segment_log_softmax(%e) {to = [pairs.left]}
%best, %word = segment_k_best(%s) {k = 6, to = [pairs.left], words = [pairs.right, shortlist.word]}
return scores = %best, words = %word
)";
constexpr std::string_view kLogits = R"(
%e = select_elements(%p) {row = [pairs.left], element = [pairs.right, shortlist.word]}
%best, %word = segment_k_best(%e) {k = 6, to = [pairs.left], words = [pairs.right, shortlist.word]}
return scores = %best, words = %word
)";

/// Half the scores of the product, and half of those of another product.
constexpr std::string_view kEnsemble = R"(
%l = add(%p, %b)
%e = select_elements(%l) {row = [pairs.left], element = [pairs.right, shortlist.word]}
%s = segment_log_softmax(%e) {to = [pairs.left]}
%v = param() {name = "v", dims = [37, 50]}
%younger = sub(%last, %age)
%q = matmul(%younger, %v)
%f = select_elements(%q) {row = [pairs.left], element = [pairs.right, shortlist.word]}
%t = segment_log_softmax(%f) {to = [pairs.left]}
%half = constant() {values = [0.5]}
%a = mul(%s, %half)
%c = mul(%t, %half)
%sum = add(%a, %c)
%best, %word = segment_k_best(%sum) {k = 6, to = [pairs.left], words = [pairs.right, shortlist.word]}
return scores = %best, words = %word
)";

/// The best of the listed words by scores that are normalized over all words.
constexpr std::string_view kListed = R"(
%l = add(%p, %b)
%s = log_softmax(%l)
%e = select_elements(%s) {row = [pairs.left], element = [pairs.right, shortlist.word]}
%best, %word = segment_k_best(%e) {k = 6, to = [pairs.left], words = [pairs.right, shortlist.word]}
return scores = %best, words = %word
)";

Graph graph_of(std::string_view product, std::string_view head) {
  return parse_graph(std::string(kDeclarations) + std::string(product) + std::string(head),
                     "test.ir", all_ops());
}

TensorMap random_weights() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  TensorMap weights;
  for (const auto& [name, shape] : std::vector<std::pair<std::string, Dims>>{
           {"table", {kWords, 37}}, {"w", {37, kWords}}, {"b", {kWords}}, {"v", {37, kWords}}}) {
    Tensor tensor(DType::f32, shape);
    for (std::int64_t i = 0; i < tensor.size(); ++i)
      tensor.mutable_data<float>()[i] = normal(random);
    weights.emplace(name, std::move(tensor));
  }
  return weights;
}

/// Sentences, and lists for them of every length: one word, all words, one list twice.
struct Batch {
  std::vector<WordIds> sentences = random_sentences(2, 7, 5);
  std::vector<WordIds> lists;

  Batch() {
    for (const std::int32_t step : {50, 1, 3, 3, 7, 24, 2}) {
      WordIds& list = lists.emplace_back();
      for (std::int32_t word = 0; word < kWords; word += step) list.push_back(word);
    }
  }
};

/// What the hypotheses of one sentence got, step by step.
struct Found {
  std::vector<float> scores;
  std::vector<std::int32_t> words;
};

/// Four steps, from the second on with three hypotheses a sentence.
std::vector<Found> search(const Executable& executable, const std::vector<WordIds>& sentences,
                          const std::vector<WordIds>& lists) {
  const auto worker = executable.make_worker();
  const std::size_t count = sentences.size();
  worker->begin({.sentences = sentences, .shortlists = lists},
                {std::vector<std::int32_t>(count, 3), std::vector<std::int32_t>(count, 4)});
  std::vector<Found> found(count);
  for (std::int32_t t = 0, width = 1; t < 4; ++t) {
    std::vector<std::int32_t> parents, sentence, parent, words, positions;
    const std::int32_t last_width = width;
    width = t == 0 ? 1 : 3;
    for (std::int32_t s = 0; s < static_cast<std::int32_t>(count); ++s) {
      parents.push_back(t == 0 ? -1 : s * last_width);
      sentence.push_back(s);
      for (std::int32_t h = 0; h < width; ++h) {
        parent.push_back(s);
        words.push_back(t == 0 ? -1 : (7 * t + 3 * h) % static_cast<std::int32_t>(kWords));
        positions.push_back(t);
      }
    }
    worker->step({parents, sentence, parent, words, positions});
    const auto scores = worker->floats(executable.output("scores"));
    const auto best = worker->integers(executable.output("words"));
    for (std::size_t row = 0; row < parent.size(); ++row) {
      Found& own = found[static_cast<std::size_t>(parent[row])];
      for (const float score : scores.row(static_cast<std::int64_t>(row)))
        own.scores.push_back(score);
      for (const std::int32_t word : best.row(static_cast<std::int64_t>(row)))
        own.words.push_back(word);
    }
  }
  return found;
}

void expect_near(const std::vector<Found>& actual, const std::vector<Found>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t s = 0; s < actual.size(); ++s) {
    EXPECT_EQ(actual[s].words, expected[s].words) << s;
    for (std::size_t i = 0; i < actual[s].scores.size(); ++i)
      if (const float score = expected[s].scores[i]; std::isfinite(score))
        EXPECT_NEAR(actual[s].scores[i], score, 2e-5) << s << " " << i;
      else
        EXPECT_EQ(actual[s].scores[i], score) << s << " " << i;
  }
}

/// Whether products are of the words of shortlists only.
bool is_fused(const Executable& executable) {
  const auto nodes = executable.plan(BindingTime::step);
  return std::any_of(nodes.begin(), nodes.end(), [](const PlannedNode& node) {
    return node.kernel == "shortlist_output_layer" || node.kernel == "sampled_product";
  });
}

bool needs_reference(const Executable& executable) {
  const auto nodes = executable.plan(BindingTime::step);
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const PlannedNode& node) { return node.on_reference; });
}

class EveryShortlist : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { cpu::force_isa(GetParam()); }
  void TearDown() override { cpu::force_isa(before_); }

  std::string before_ = cpu::active_isa();
  TensorMap weights_ = random_weights();
  Batch batch_;
};

INSTANTIATE_TEST_SUITE_P(Backends, EveryShortlist, ::testing::ValuesIn(cpu::supported_isas()),
                         [](const auto& isa) { return isa.param; });

TEST_P(EveryShortlist, AgreesWithTheReferenceInterpreter) {
  for (const auto product : {kTied, kUntied})
    for (const auto head : {kScores, kLogits, kEnsemble}) {
      const Graph graph = graph_of(product, head);
      const auto oracle = compile(graph, weights_, {.backend = "reference", .passes = "none"});
      const std::vector<Found> expected = search(*oracle, batch_.sentences, batch_.lists);
      const auto fused = compile(graph, weights_, {});
      EXPECT_TRUE(is_fused(*fused));
      EXPECT_FALSE(needs_reference(*fused));
      expect_near(search(*fused, batch_.sentences, batch_.lists), expected);
      const auto exact = compile(graph, weights_, {.exact = true});
      EXPECT_FALSE(is_fused(*exact));
      expect_near(search(*exact, batch_.sentences, batch_.lists), expected);
    }
}

/// The declarations with matrices that are stored as `dtype`.
std::string declarations_in(const char* dtype) {
  std::string text(kDeclarations), casts;
  for (const std::string name : {"table", "w"}) {
    const std::string param = fmt::format("%{} = param() {{", name);
    text.replace(text.find(param), param.size(),
                 fmt::format("%stored_{} = param() {{dtype = {}, ", name, dtype));
    casts += fmt::format("%{0} = cast(%stored_{0}) {{to = f32}}\n", name);
  }
  return text.insert(text.find("%at ="), casts);
}

TEST_P(EveryShortlist, ReadsColumnsInBf16AndWidensThoseInF16) {
  for (const char* dtype : {"bf16", "f16"})
    for (const auto product : {kTied, kUntied})
      for (const auto head : {kScores, kLogits}) {
        TensorMap weights = weights_;
        for (const char* name : {"table", "w"}) {
          Tensor& tensor = weights.at(name);
          tensor = std::string_view(dtype) == "f16" ? tensor.to_f16() : tensor.to_bf16();
        }
        const Graph graph =
            parse_graph(declarations_in(dtype) + std::string(product) + std::string(head),
                        "test.ir", all_ops());
        const auto oracle = compile(graph, weights, {.backend = "reference", .passes = "none"});
        const auto fused = compile(graph, weights, {});
        EXPECT_TRUE(is_fused(*fused));
        EXPECT_FALSE(needs_reference(*fused));
        expect_near(search(*fused, batch_.sentences, batch_.lists),
                    search(*oracle, batch_.sentences, batch_.lists));
      }
}

TEST_P(EveryShortlist, ListsWordsOfScoresThatAreNormalizedOverAll) {
  for (const auto product : {kTied, kUntied}) {
    const Graph graph = graph_of(product, kListed);
    const auto oracle = compile(graph, weights_, {.backend = "reference", .passes = "none"});
    const auto executable = compile(graph, weights_, {});
    EXPECT_FALSE(needs_reference(*executable));
    expect_near(search(*executable, batch_.sentences, batch_.lists),
                search(*oracle, batch_.sentences, batch_.lists));
  }
}

TEST_P(EveryShortlist, GivesNoWordThatIsNotInIt) {
  const auto executable = compile(graph_of(kTied, kScores), weights_, {});
  const std::vector<Found> found = search(*executable, batch_.sentences, batch_.lists);
  for (std::size_t s = 0; s < found.size(); ++s)
    for (std::size_t i = 0; i < found[s].words.size(); ++i) {
      const WordIds& list = batch_.lists[s];
      const std::size_t place = i % kBest;
      if (place >= list.size())
        EXPECT_EQ(found[s].words[i], -1);
      else
        EXPECT_TRUE(std::binary_search(list.begin(), list.end(), found[s].words[i]));
    }
}

TEST_P(EveryShortlist, ASentenceAloneGetsTheSameBytes) {
  for (const Precision precision : {Precision::fp32, Precision::int8, Precision::int16})
    for (const auto head : {kScores, kEnsemble}) {
      const auto executable = compile(graph_of(kUntied, head), weights_, {.precision = precision});
      const std::vector<Found> together = search(*executable, batch_.sentences, batch_.lists);
      for (std::size_t s = 0; s < together.size(); ++s) {
        const std::vector<Found> alone =
            search(*executable, {batch_.sentences[s]}, {batch_.lists[s]});
        EXPECT_EQ(alone[0].words, together[s].words);
        EXPECT_EQ(alone[0].scores, together[s].scores);
      }
    }
}

TEST_P(EveryShortlist, QuantizedLogitsAreThoseOfThePlainProduct) {
  for (const Precision precision :
       {Precision::int8, Precision::int16, Precision::int4, Precision::int4_log})
    for (const auto& [product, head] : {std::pair{kTied, kScores},
                                        {kUntied, kScores},
                                        {kTied, kEnsemble},
                                        {kUntied, kEnsemble}}) {
      const Graph graph = graph_of(product, head);
      const auto fused = compile(graph, weights_, {.precision = precision});
      const auto plain =
          compile(graph, weights_,
                  {.passes = "all,-fuse_output,-fuse_sampled_products", .precision = precision});
      EXPECT_TRUE(is_fused(*fused));
      EXPECT_FALSE(is_fused(*plain));
      expect_near(search(*fused, batch_.sentences, batch_.lists),
                  search(*plain, batch_.sentences, batch_.lists));
    }
}

TEST_P(EveryShortlist, IsSharedByThreadsWithoutChangeOfBytes) {
  // So many rows that sharing them is worth it, and shares that end within a sentence.
  for (int doubled = 0; doubled < 3; ++doubled) {
    const Batch before = batch_;
    std::copy(before.sentences.begin(), before.sentences.end(),
              std::back_inserter(batch_.sentences));
    std::copy(before.lists.begin(), before.lists.end(), std::back_inserter(batch_.lists));
  }
  for (const auto head : {kScores, kLogits, kEnsemble})
    for (const Precision precision : {Precision::fp32, Precision::int8}) {
      const auto found_by = [&](std::size_t threads) {
        const auto executable = compile(graph_of(kUntied, head), weights_,
                                        {.precision = precision, .threads_per_sentence = threads});
        return search(*executable, batch_.sentences, batch_.lists);
      };
      const std::vector<Found> want = found_by(1);
      for (const std::size_t threads : {2u, 5u}) {
        const std::vector<Found> got = found_by(threads);
        ASSERT_EQ(got.size(), want.size());
        for (std::size_t s = 0; s < want.size(); ++s) {
          EXPECT_EQ(got[s].words, want[s].words)
              << to_string(precision) << ", " << threads << " threads";
          EXPECT_EQ(got[s].scores, want[s].scores)
              << to_string(precision) << ", " << threads << " threads";
        }
      }
    }
}

TEST(Shortlists, AreNeededForEverySentence) {
  const auto executable = compile(graph_of(kTied, kScores), random_weights(), {});
  const Batch batch;
  EXPECT_THROW(search(*executable, batch.sentences, {}), InternalError);
}

TEST(Shortlists, OfWordsBeyondTheVocabularyAreRefused) {
  const auto executable = compile(graph_of(kTied, kScores), random_weights(), {});
  EXPECT_THAT(
      [&] {
        search(*executable, {{1, 0}}, {{0, 50}});
      },
      ::testing::ThrowsMessage<Error>(::testing::HasSubstr("word id 50")));
}

}  // namespace
}  // namespace fuselage::shortlist_test
