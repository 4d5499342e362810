#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "backends/cuda/cudnn.h"
#include "backends/cuda/device/executor/cuda_executable.h"
#include "backends/cuda/device/kernel/kernel_registry.h"
#include "backends/cuda/kernel_table.h"
#include "base/files/file.h"
#include "decoding/sampling_streams.h"
#include "device_array.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/quantized.h"
#include "fuselage/decoding/beam_search.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/graph/text.h"
#include "fuselage/models/architectures/architecture.h"
#include "fuselage/models/architectures/ensemble.h"
#include "fuselage/models/load_model.h"
#include "fuselage/ops/registry.h"
#include "fuselage/passes/precision/quantize.h"
#include "models/quantized/quantize_model.h"
#include "tests/cuda/op_program.h"
#include "tests/passes/execute.h"

namespace fuselage::cuda::executable_models_test {
namespace {

struct Case {
  const char* model;
  Precision precision;
  float tolerance;  ///< absolute, for scores
  const char* passes = "all";
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.model << " in " << to_string(c.precision);
}

/// Trained models, translated on the GPU and on the CPU.
class CudaModels : public CudaTest, public ::testing::WithParamInterface<Case> {};

std::vector<WordIds> random_sentences(std::int64_t vocabulary) {
  std::mt19937 random(1);
  std::uniform_int_distribution<std::int32_t> word(2, static_cast<std::int32_t>(vocabulary) - 1);
  std::vector<WordIds> sentences;
  for (const std::size_t length : {3, 7, 1, 5}) {
    WordIds words(length);
    for (std::int32_t& id : words) id = word(random);
    words.push_back(0);
    sentences.push_back(words);
  }
  return sentences;
}

/// The size of the model's smallest vocabulary.
std::int64_t vocabulary_of(const Graph& graph) {
  std::int64_t size = 1 << 20;
  for (std::uint32_t i = 0; i < graph.domain_count(); ++i)
    if (graph.domain(DomainId{i}).kind == DomainKind::vocabulary)
      size = std::min(size, graph.domain(DomainId{i}).size);
  return size;
}

Model trained_model(const std::string& name) {
  return load_model(std::string(FUSELAGE_TEST_DATA) + "/" + name + "/model.npz");
}

/// The graph of a benchmark, with small sizes.
Graph small_quinn() {
  return build_random_model("rnn-stack",
                            {{"dim-vocabs", "[90, 90]"},
                             {"dim-emb", "7"},
                             {"encoder", "[bi-gru 13]"},
                             {"decoder", "[gru+gru 13]"},
                             {"readout", "7"}},
                            1)
      .graph;
}

/// Translates with `graph`, which has a search head, on the CPU and twice on the GPU.
void expect_same_translations(Graph graph, const TensorMap& weights, const Case& c,
                              const SearchOptions& options,
                              const std::vector<WordIds>& shortlists = {}) {
  const auto sentences = random_sentences(vocabulary_of(graph));
  const auto cpu = compile(graph, weights, {.passes = c.passes, .precision = c.precision});
  optimize(graph, {.backend = "cuda", .passes = c.passes, .precision = c.precision});
  const auto cuda = make_cuda_executable(split_by_binding_time(graph), weights, {}, cuda_kernels(),
                                         kernel_registry());
  const std::vector<NBest> expected = BeamSearch(*cpu, options).search(sentences, shortlists);
  BeamSearch search(*cuda, options);
  for (int i = 0; i < 2; ++i) {
    const std::vector<NBest> found = search.search(sentences, shortlists);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t s = 0; s < found.size(); ++s) {
      ASSERT_EQ(found[s].size(), expected[s].size());
      EXPECT_NEAR(found[s][0].score, expected[s][0].score, c.tolerance) << "sentence " << s;
      EXPECT_EQ(found[s][0].words, expected[s][0].words) << "sentence " << s;
    }
  }
}

TEST_P(CudaModels, AreTranslatedAsOnTheCpu) {
  const SearchOptions options{.beam_size = 3, .normalize = 0.6f, .max_length_factor = 1};
  const Model model = trained_model(GetParam().model);
  expect_same_translations(
      with_search_head(model.graph, SearchHead::k_best,
                       {.k = BeamSearch::candidates_per_row(options), .alignment = false}),
      model.weights, GetParam(), options);
}

/// The samples of four sentences on the GPU and on the CPU: numbers of streams have the same bits.
void expect_same_samples(const Model& model, const Sampling& sampling, const Case& c,
                         const std::vector<WordIds>& shortlists = {}) {
  const SearchHeadOptions head{.alignment = false,
                               .shortlist = !shortlists.empty(),
                               .sampling = sampling,
                               .suppressed = {1}};
  const Graph graph = with_search_head(model.graph, SearchHead::k_best, head);
  Graph on_cuda = graph;
  optimize(on_cuda, {.backend = "cuda", .passes = c.passes, .precision = c.precision});
  const auto cpu = compile(graph, model.weights, {.passes = c.passes, .precision = c.precision});
  const auto cuda = make_cuda_executable(split_by_binding_time(on_cuda), model.weights, {},
                                         cuda_kernels(), kernel_registry());
  const SearchOptions options{.beam_size = 1, .max_length_factor = 1, .suppressed = {1}};
  const auto sentences = random_sentences(vocabulary_of(model.graph));
  SamplingStreams streams(std::vector<std::uint64_t>{1, 0xfedcba9876543210, 3, 1ull << 63});
  const Batch batch = streams.added_to({.sentences = sentences, .shortlists = shortlists});
  const std::vector<NBest> expected = BeamSearch(*cpu, options).search(batch, {});
  BeamSearch search(*cuda, options);
  for (int i = 0; i < 2; ++i) {
    const std::vector<NBest> found = search.search(batch, {});
    EXPECT_EQ(search.steps(), 0) << "the device searches by itself";
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t s = 0; s < found.size(); ++s) {
      EXPECT_EQ(found[s].at(0).words, expected[s].at(0).words) << "sentence " << s;
      EXPECT_NEAR(found[s][0].score, expected[s][0].score, c.tolerance) << "sentence " << s;
    }
  }
}

using CudaSampling = CudaTest;

// In fewer bits, roundings that differ soon draw another word.
TEST_F(CudaSampling, DrawsTheWordsThatTheCpuDraws) {
  for (const char* name : {"nematus", "transformer-post"}) {
    const Case c{name, Precision::fp32, 1e-3f};
    const Model model = trained_model(name);
    expect_same_samples(model, {}, c);
    expect_same_samples(model, {.method = SamplingMethod::top_k, .temperature = 2}, c);
    expect_same_samples(model, {.method = SamplingMethod::nucleus}, c);
    expect_same_samples(model, {.method = SamplingMethod::epsilon}, c,
                        {{0, 1, 5, 9, 40}, {0, 7}, {0, 1, 2, 3}, {0, 1, 30, 31, 32, 33, 50}});
  }
}

using CudaStoredModel = CudaTest;

/// The types of quantized matrices of products, whose rows must be of the type that goes with them.
std::set<DType> types_of_products(const Graph& graph) {
  std::set<DType> types;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (node.operands.size() < 2) continue;
    const DType matrix = graph.value(node.operands[1]).type.dtype;
    if (!is_quantized(matrix)) continue;
    EXPECT_EQ(graph.value(node.operands[0]).type.dtype, row_type_of(matrix));
    types.insert(matrix);
  }
  return types;
}

/// How much a log-probability can change if one number of a row that the output layer multiplies is
/// rounded to another int8: a tanh, so within 1, in steps of at most 1 / 127; times the largest
/// weight, for the word's logit and for another one.
float one_step_of_int8(const Model& model, const std::string& output_matrix) {
  const Tensor& matrix = model.weights.at(output_matrix);
  float largest = 0;
  for (std::int64_t i = 0; i < matrix.size(); ++i)
    largest = std::max(largest, std::fabs(matrix.data<float>()[i]));
  return 2 * largest / 127;
}

// Functions as tanh differ in their last bit from the CPU's. Where a number is close to the middle
// between two integers, that changes the integer. So a score may be off by such a step, which is
// far more than the error of sums; that so many numbers of a sentence are is unlikely.
TEST_F(CudaStoredModel, HasEachProductInTheTypeOfItsMatrix) {
  const SearchOptions options{.beam_size = 3, .max_length_factor = 1};
  Model model = trained_model("nematus");
  const float tolerance = one_step_of_int8(model, "decoder_Wemb");
  store_matrices(model, [](const std::string& name) {
    return MatrixStorage{
        .quantizer = weight_quantizer(name.ends_with("Wemb") ? Precision::int8 : Precision::int16)};
  });
  Graph graph =
      with_search_head(model.graph, SearchHead::k_best,
                       {.k = BeamSearch::candidates_per_row(options), .alignment = false});
  expect_same_translations(graph, model.weights, {"nematus", Precision::stored, tolerance},
                           options);
  optimize(graph, {.backend = "cuda", .precision = Precision::stored});
  EXPECT_THAT(types_of_products(graph), ::testing::ElementsAre(DType::qint8, DType::qint16));
}

using CudaRepetitions = CudaTest;

TEST_F(CudaRepetitions, ArePenalizedAsOnTheCpu) {
  const SearchOptions options{.beam_size = 3, .max_length_factor = 1};
  for (const char* name : {"nematus", "transformer-ssru"}) {
    const Model model = trained_model(name);
    expect_same_translations(
        with_search_head(model.graph, SearchHead::k_best,
                         {.k = BeamSearch::candidates_per_row(options),
                          .alignment = false,
                          .repetition = {.penalty = 1.5f, .no_repeat_ngram_size = 2}}),
        model.weights, {name, Precision::fp32, 1e-3f}, options);
  }
}

/// A model with a plain GRU for each direction of the encoder.
class CudaEncoder : public CudaTest {
 protected:
  /// The number of its recurrent layers that cuDNN runs.
  std::int64_t cudnn_layers(CompileOptions options) const {
    options.backend = "cuda";
    Graph graph = graph_;
    optimize(graph, options);
    const auto cuda = make_cuda_executable(split_by_binding_time(graph), weights_, {},
                                           cuda_kernels(), kernel_registry());
    const std::vector<PlannedNode> plan = cuda->plan(BindingTime::source);
    return std::count_if(plan.begin(), plan.end(),
                         [](const PlannedNode& node) { return node.kernel == "recurrent_layer"; });
  }

  const Graph graph_ =
      with_search_head(small_quinn(), SearchHead::k_best,
                       {.k = BeamSearch::candidates_per_row(kOptions), .alignment = false});
  const TensorMap weights_ = random_weights(graph_, 3, false);
  static constexpr SearchOptions kOptions{.beam_size = 3, .max_length_factor = 1};
};

TEST_F(CudaEncoder, IsCudnnsWhereItMayBe) {
  if (!has_recurrent_layers()) GTEST_SKIP() << "there is no cuDNN";
  EXPECT_EQ(cudnn_layers({}), 2);
  EXPECT_EQ(cudnn_layers({.cuda = {.tf32 = true}}), 2);
  EXPECT_EQ(cudnn_layers({.cuda = {.deterministic = true}}), 0);
  EXPECT_EQ(cudnn_layers({.precision = Precision::bf16}), 0);
  EXPECT_EQ(cudnn_layers({.exact = true}), 0);
}

TEST_F(CudaEncoder, IsTheCpusWithCudnnAndWithout) {
  expect_same_translations(graph_, weights_, {"quinn", Precision::fp32, 1e-3f}, kOptions);
  expect_same_translations(graph_, weights_, {"quinn", Precision::fp32, 1e-3f, "none"}, kOptions);
  expect_same_translations(graph_, weights_, {"quinn", Precision::int8, 1e-3f}, kOptions);
}

/// Norms whose floats only products read are stored in 16 bits alone.
class CudaNumbers : public CudaTest {
 protected:
  /// The error of a search with a weight that has a NaN.
  static std::string error_of(const std::string& weight) {
    const SearchOptions options{.beam_size = 1, .max_length_factor = 1};
    Model model = build_random_model("transformer",
                                     {{"dim-vocabs", "[50, 50]"},
                                      {"dim-emb", "32"},
                                      {"enc-depth", "2"},
                                      {"dec-depth", "2"},
                                      {"transformer-heads", "2"},
                                      {"transformer-dim-ffn", "64"},
                                      {"transformer-preprocess", "n"},
                                      {"transformer-postprocess", "da"},
                                      {"transformer-postprocess-top", "n"}},
                                     1);
    model.weights.at(weight).mutable_data<float>()[3] = std::numeric_limits<float>::quiet_NaN();
    Graph graph =
        with_search_head(model.graph, SearchHead::k_best,
                         {.k = BeamSearch::candidates_per_row(options), .alignment = false});
    optimize(graph, {.backend = "cuda", .precision = Precision::bf16});
    const auto cuda = make_cuda_executable(split_by_binding_time(graph), model.weights, {},
                                           cuda_kernels(), kernel_registry());
    BeamSearch search(*cuda, options);
    for (int i = 0; i < 2; ++i) {
      try {
        search.search(std::vector<WordIds>{{3, 4, 0}});
      } catch (const Error& error) {
        if (i == 1) return error.what();
      }
    }
    return "";
  }
};

TEST_F(CudaNumbers, ThatAreNoneAreTracedToTheirNode) {
  EXPECT_THAT(error_of("encoder_l2_ffn_b2"),
              ::testing::HasSubstr("that of linear 'encoder_l2_ffn"));
  EXPECT_THAT(error_of("decoder_l2_ffn_b2"),
              ::testing::HasSubstr("that of linear 'decoder_l2_ffn"));
  EXPECT_THAT(error_of("decoder_l2_context_bq"),
              ::testing::HasSubstr("that of linear 'decoder_l2_context"));
}

using CudaShortlist = CudaTest;

TEST_F(CudaShortlist, IsSearchedAsOnTheCpu) {
  const SearchOptions options{.beam_size = 3, .max_length_factor = 1};
  const Model model = trained_model("nematus");
  std::vector<WordIds> shortlists{{0, 3, 5, 70}, {0}, {0, 49}};
  WordIds& longest = shortlists.emplace_back();
  for (std::int32_t word = 0; word < 90; word += 3) longest.push_back(word);
  for (const char* passes : {"all", "none"})
    expect_same_translations(
        with_search_head(
            model.graph, SearchHead::k_best,
            {.k = BeamSearch::candidates_per_row(options), .alignment = false, .shortlist = true}),
        model.weights, {"nematus", Precision::fp32, 1e-3f, passes}, options, shortlists);
}

TEST_F(CudaShortlist, OfAnEnsembleIsSearchedAsOnTheCpu) {
  const SearchOptions options{.beam_size = 3, .max_length_factor = 1};
  std::vector<EnsembleMember> members;
  for (const char* name : {"transformer-ssru", "nematus"})
    members.push_back({trained_model(name), 0.5, name});
  const Model model = make_ensemble(std::move(members));
  const std::vector<WordIds> shortlists{{0, 3, 5, 70}, {0}, {0, 49}, {0, 1, 2, 7, 88}};
  expect_same_translations(
      with_search_head(
          model.graph, SearchHead::k_best,
          {.k = BeamSearch::candidates_per_row(options), .alignment = false, .shortlist = true}),
      model.weights, {"ensemble", Precision::fp32, 1e-3f, "all"}, options, shortlists);
}

INSTANTIATE_TEST_SUITE_P(All, CudaModels,
                         ::testing::Values(Case{"transformer-ssru", Precision::fp32, 1e-3f},
                                           Case{"transformer-ssru", Precision::int8, 1e-3f},
                                           Case{"transformer-post", Precision::bf16, 2e-2f},
                                           Case{"transformer-post", Precision::int16, 1e-3f},
                                           Case{"nematus", Precision::fp32, 1e-3f},
                                           Case{"nematus", Precision::int8, 1e-3f}),
                         [](const auto& test) {
                           std::string name = fmt::format("{}_{}", test.param.model,
                                                          to_string(test.param.precision));
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

}  // namespace
}  // namespace fuselage::cuda::executable_models_test
