// The models of papers: lists of layers as graphs.

#include "models/architectures/rnn_stack.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "fuselage/models/architectures/architecture.h"
#include "fuselage/models/formats/safetensors.h"
#include "fuselage/models/load_model.h"
#include "graph/traversal.h"
#include "tests/temp_path.h"

namespace fuselage {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// The number of parameters of a model of models/papers.
std::int64_t parameters_of(const std::string& name) {
  const Model model = load_model(
      std::string(FUSELAGE_SOURCE_DIR) + "/models/papers/" + name + ".yml", {.random_weights = 1});
  std::int64_t count = 0;
  for (const auto& [weight, tensor] : model.weights) count += tensor.size();
  return count;
}

constexpr std::int64_t gru(std::int64_t in, std::int64_t size) {
  return 3 * size * (in + size + 1);
}
constexpr std::int64_t lstm(std::int64_t in, std::int64_t size) {
  return 4 * size * (in + size + 1);
}
constexpr std::int64_t affine(std::int64_t in, std::int64_t out) { return (in + 1) * out; }
/// Keys with a bias, queries, and the vector of the scores.
constexpr std::int64_t attention(std::int64_t context, std::int64_t state) {
  return affine(context, context) + state * context + context;
}

TEST(Papers, HaveTheSizesOfTheirTables) {
  constexpr std::int64_t kEncoder = 2 * gru(512, 512) + 4 * gru(1024, 512);
  constexpr std::int64_t kAttended = affine(1024, 1024) + attention(1024, 1024);
  constexpr std::int64_t kS1 =
      2 * 8000 * 512 + kEncoder + kAttended + gru(512 + 1024, 1024) + affine(1024, 500);
  constexpr std::int64_t kLayer = affine(768, 768);
  EXPECT_EQ(parameters_of("devlin-s1"), kS1);
  EXPECT_EQ(parameters_of("devlin-s2"), kS1 + gru(1024, 1024));
  EXPECT_EQ(parameters_of("devlin-s3"), kS1 + affine(1024, 768) + 2 * kLayer + affine(768, 1024));
  const std::int64_t s4 = kS1 + affine(1024, 768) + 6 * kLayer + affine(768, 1024);
  EXPECT_EQ(parameters_of("devlin-s4"), s4);
  EXPECT_EQ(parameters_of("devlin-s5"), kS1 + affine(1024, 768) + 6 * kLayer + gru(768, 1024));
  EXPECT_EQ(parameters_of("devlin-s6"), kS1 + affine(1024, 768) + 14 * kLayer + affine(768, 1024));
  EXPECT_EQ(parameters_of("devlin-s7"), 2 * 8000 * 512 + 8 * lstm(512, 512) + affine(512, 1024) +
                                            attention(512, 1024) + lstm(512 + 512, 1024) +
                                            7 * lstm(1024, 1024) + affine(1024, 500));
  EXPECT_EQ(parameters_of("devlin-e1"), 2 * s4);
  EXPECT_EQ(parameters_of("amun-fast"), 2 * 30000 * 256 + 2 * gru(256, 256) + affine(512, 256) +
                                            attention(512, 256) + gru(256, 256) + gru(512, 256) +
                                            affine(256 + 256 + 512, 256) + affine(256, 30000));
}

ModelOptions options_of(const std::string& encoder, const std::string& decoder) {
  return {{"dim-vocabs", "[9, 11]"}, {"dim-emb", "4"}, {"encoder", encoder}, {"decoder", decoder}};
}

std::vector<std::string> names_of(const Model& model) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : model.weights) names.push_back(name);
  return names;
}

TEST(RnnStack, NamesItsParametersByLayer) {
  const Model model =
      build_random_model("rnn-stack", options_of("[bi-ssru 4]", "[tanh+gru 3, relu-layer 5]"), 1);
  EXPECT_THAT(
      names_of(model),
      ::testing::IsSupersetOf({"encoder_Wemb", "encoder_l1_W", "encoder_l1_r_W", "decoder_Wemb",
                               "decoder_start_W", "decoder_l1_W", "decoder_l1_Wc_att",
                               "decoder_l1_second_Wx", "decoder_l2_W", "output_W", "output_b"}));
}

/// Additions of two rows of 3, without a parameter: skip connections.
std::int64_t skips_in(const std::string& decoder) {
  const Graph graph = build_random_model("rnn-stack", options_of("[gru 2]", decoder), 1).graph;
  std::int64_t skips = 0;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (node.op->name != "add") continue;
    const auto is_relu = [&](ValueId value) {
      return graph.producer(value).op->name == "relu" || graph.producer(value).op->name == "add";
    };
    const auto has_rows = [&](ValueId value) {
      return graph.value(value).type.domain != graph.none();
    };
    skips += is_relu(node.operands[0]) && graph.producer(node.operands[0]).op->name == "relu" &&
                     has_rows(node.operands[1]) && is_relu(node.operands[1])
                 ? 1
                 : 0;
  }
  return skips;
}

TEST(RnnStack, JoinsEveryOtherLayerOfTheSameSize) {
  EXPECT_EQ(skips_in("[gru 5, relu-layer 3]"), 0);
  EXPECT_EQ(skips_in("[gru 5, 2 relu-layer 3]"), 0);
  EXPECT_EQ(skips_in("[gru 5, 3 relu-layer 3]"), 1);
  EXPECT_EQ(skips_in("[gru 5, 7 relu-layer 3]"), 3);
  EXPECT_EQ(skips_in("[gru 5, 3 relu-layer 3, 3 relu-layer 4]"), 2);
  EXPECT_EQ(skips_in("[gru 5, 2 relu-layer 3, gru 5, 2 relu-layer 3]"), 0);
}

TEST(RnnStack, RefusesWhatIsNoModel) {
  const auto build = [](const std::string& encoder, const std::string& decoder) {
    return [=] { build_random_model("rnn-stack", options_of(encoder, decoder), 1); };
  };
  for (const char* layer : {"[gru]", "[gru x]", "[gru 0]", "[gru -4]", "[0 gru 4]", "[1 2 gru 4]",
                            "[gru 99999999999999999999]"})
    EXPECT_THAT(build(layer, "[gru 4]"), ThrowsMessage<Error>(HasSubstr("'encoder' has the layer")))
        << layer;
  EXPECT_THAT(build("[]", "[gru 4]"), ThrowsMessage<Error>(HasSubstr("'encoder' lists no layers")));
  EXPECT_THAT(build("[gru 4]", "[gro 4]"),
              ThrowsMessage<Error>(HasSubstr("there is no cell 'gro'")));
  EXPECT_THAT(build("[gru 4]", "[gru 4, relo-layer 4]"),
              ThrowsMessage<Error>(HasSubstr("there is no 'relo-layer'")));
  EXPECT_THAT(build("[gru 4]", "[gru 4, sru 5]"),
              ThrowsMessage<Error>(HasSubstr("needs an input of the size")));
  ModelOptions more{{"dim-vocabs", "[9, 11]"},
                    {"encoder", "[gru 4]"},
                    {"decoder", "[gru 4]"},
                    {"output-words", "12"}};
  EXPECT_THAT([&] { build_random_model("rnn-stack", more, 1); },
              ThrowsMessage<Error>(HasSubstr("'output-words' is 12, it must be from 1 to 11")));
  ModelOptions none{{"encoder", "[gru 4]"}, {"decoder", "[gru 4]"}};
  EXPECT_THAT([&] { build_random_model("rnn-stack", none, 1); },
              ThrowsMessage<Error>(HasSubstr("state it by 'dim-vocabs'")));
}

// --- Configurations ---

std::string write_file(const std::string& name, const std::string& text) {
  std::string path = temp_path(name);
  write_file_atomically(path, text);
  return path;
}

constexpr const char* kSmall =
    "type: rnn-stack\ndim-vocabs: [9, 11]\ndim-emb: 4\nencoder: [bi-gru 3]\n"
    "decoder: [gru+gru 5]\n";

TEST(ModelConfiguration, ReadsItsWeightsByName) {
  const Model random = load_model(write_file("random.yml", kSmall), {.random_weights = 7});
  write_safetensors(temp_path("small.safetensors"), random.weights, {});
  const std::string path = write_file(
      "stored.yml",
      fmt::format(
          "{}weights: {}\n", kSmall,
          temp_path("small.safetensors").substr(temp_path("small.safetensors").rfind('/') + 1)));
  const Model stored = load_model(path);
  EXPECT_TRUE(same_graph(stored.graph, random.graph));
  ASSERT_EQ(names_of(stored), names_of(random));
  for (const auto& [name, tensor] : random.weights)
    EXPECT_TRUE(std::equal(tensor.data<float>(), tensor.data<float>() + tensor.size(),
                           stored.weights.at(name).data<float>()))
        << name;
  EXPECT_EQ(stored.architecture, "rnn-stack");
}

TEST(ModelConfiguration, MakesTheSameRandomWeightsForTheSameSeed) {
  const std::string path = write_file("random.yml", kSmall);
  const auto number = [&](std::uint64_t seed) {
    return load_model(path, {.random_weights = seed}).weights.at("output_W").data<float>()[3];
  };
  EXPECT_EQ(number(7), number(7));
  EXPECT_NE(number(7), number(8));
  // The numbers are the same on any machine.
  EXPECT_FLOAT_EQ(number(1), -0.016310781f);
}

TEST(ModelConfiguration, HasAnyArchitectureOfMarianToo) {
  const Model model = load_model(write_file("transformer.yml",
                                            "type: transformer\ndim-vocabs: [9, 11]\ndim-emb: 8\n"
                                            "transformer-heads: 2\nenc-depth: 2\ndec-depth: 1\n"
                                            "transformer-dim-ffn: 16\n"),
                                 {.random_weights = 1});
  EXPECT_EQ(model.weights.at("encoder_Wemb").shape(), (Dims{9, 8}));
}

TEST(ModelConfiguration, IsAMemberOfAnEnsembleWithWeightsOfItsOwn) {
  write_file("member.yml", kSmall);
  const std::string name = temp_path("member.yml");
  const Model pair = load_model(
      write_file("pair.yml", fmt::format("models: [{}, {}]\n", name, name)), {.random_weights = 1});
  EXPECT_NE(pair.weights.at("0.output_W").data<float>()[0],
            pair.weights.at("1.output_W").data<float>()[0]);
}

TEST(ModelConfiguration, RefusesWhatItCannotBe) {
  EXPECT_THAT([] { load_model(write_file("bare.yml", kSmall)); },
              ThrowsMessage<Error>(HasSubstr("it names no weights; add 'weights'")));
  const auto with = [](const std::string& more) {
    return [=] { load_model(write_file("more.yml", kSmall + more), {.random_weights = 1}); };
  };
  EXPECT_THAT(with("weights: [a, b]\n"),
              ThrowsMessage<Error>(HasSubstr("'weights' must name one")));
  EXPECT_THAT(with("vocabs: a.spm\n"), ThrowsMessage<Error>(HasSubstr("'vocabs' must name two")));
  EXPECT_THAT(with("vocabs: [[a], b]\n"),
              ThrowsMessage<Error>(HasSubstr("'vocabs' must be a list")));
  EXPECT_THAT(with("depth: 3\n"), ThrowsMessage<Error>(HasSubstr("depth")));
  EXPECT_THAT(
      [] { load_model(write_file("other.yml", "type: rnn-stak\n"), {.random_weights = 1}); },
      ThrowsMessage<Error>(HasSubstr("rnn-stack")));
  const std::string data = FUSELAGE_TEST_DATA;
  EXPECT_THAT([&] { load_model(data + "/nematus/model.npz", {.random_weights = 1}); },
              ThrowsMessage<Error>(HasSubstr("has weights of its own")));
}

}  // namespace
}  // namespace fuselage
