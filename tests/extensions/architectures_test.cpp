// Architectures of another project: in a C++ program, a Marian model and a model directory.

#include <gmock/gmock.h>

#include <filesystem>
#include <numeric>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "fuselage/models/architectures/architecture.h"
#include "fuselage/models/formats/safetensors.h"
#include "fuselage/models/load_model.h"
#include "graph/traversal.h"
#include "models/architectures/seq2seq.h"
#include "tests/models/marian_bin_writer.h"
#include "tests/temp_path.h"

namespace fuselage {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::ThrowsMessage;

constexpr std::int64_t kWords = 6, kSize = 4;

/// Ranks words by the last word alone, from a table and a matrix.
void build_bigram(Parameters& parameters, const ModelOptions& options) {
  Builder& b = parameters.builder();
  Graph& g = b.graph();
  const std::int64_t size = options.integer("dim-emb", 0);
  const DomainId words = g.add_vocabulary("words", parameters.rows("table"));
  const DomainId sentence = g.add_sentences("sentence");
  const DomainId source = g.add_source("source", sentence);
  g.add_word_map("source.word", source, words, false);
  const DomainId parent = g.add_parents("parent", sentence);
  const DomainId hyp = g.add_hypotheses("hyp", parent);
  const MapId last = g.add_word_map("hyp.word", hyp, words, true);
  const Expr table = parameters.table("table", words, size);
  const Expr logits = dot(select_rows(table, {last}), parameters.matrix("matrix", size, kWords));
  b.output("logits", options.flag("sharp") ? logits * 2 : logits);
}

void register_bigram() {
  static const bool registered =
      (register_architecture({"ext_bigram", "Words by the last word.", build_bigram}), true);
  (void)registered;
}

ModelOptions options_of(const std::map<std::string, std::string>& values) {
  return ModelOptions(values);
}

Tensor counted(std::int64_t rows, std::int64_t columns) {
  Tensor tensor(DType::f32, {rows, columns});
  std::iota(tensor.mutable_data<float>(), tensor.mutable_data<float>() + tensor.size(), 1.0f);
  return tensor;
}

TensorMap weights() {
  return {{"table", counted(kWords, kSize)}, {"matrix", counted(kSize, kWords)}};
}

class Architectures : public ::testing::Test {
 protected:
  void SetUp() override { register_bigram(); }
};

TEST_F(Architectures, AreBuiltByName) {
  const Model model = build_model("ext_bigram", options_of({{"dim-emb", "4"}, {"sharp", "true"}}),
                                  weights(), "bigram");
  EXPECT_EQ(model.graph.name(), "bigram");
  EXPECT_TRUE(model.graph.find_output("logits").valid());
  EXPECT_EQ(model.weights.size(), 2u);
}

TEST_F(Architectures, WrongOptionsAndWeightsAreRefused) {
  const auto refused = [](const std::map<std::string, std::string>& options, TensorMap weights,
                          const std::string& message) {
    EXPECT_THAT([&] { build_model("ext_bigram", options_of(options), weights); },
                ThrowsMessage<Error>(AllOf(HasSubstr("options: "), HasSubstr(message))));
  };
  refused({{"dim-emb", "four"}}, weights(), "option dim-emb is 'four'; it must be a whole number");
  refused({{"dim-emb", "4"}, {"shrp", "true"}}, weights(),
          "unknown option 'shrp' of the model's architecture; did you mean 'sharp'?");
  refused({{"dim-emb", "5"}}, weights(), "parameter 'table' has shape [6, 4]");
  TensorMap more = weights();
  more["rest"] = counted(1, 1);
  refused({{"dim-emb", "4"}}, more, "not used by the architecture");
}

TEST_F(Architectures, OptionsAreReadByType) {
  const auto options = ModelOptions::from_yaml("a: 1\nb: [1, 2]\nc: [x, y]\nd: 0.5\ne:\n", "file");
  EXPECT_EQ(options.integer("a", 0), 1);
  EXPECT_EQ(options.integers("b"), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(options.texts("c"), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(options.real("d", 0), 0.5);
  EXPECT_EQ(options.text("e", "none"), "");
  EXPECT_NO_THROW(options.expect_all_read());
  EXPECT_EQ(options.text("f", "none"), "none");
  EXPECT_FALSE(options.has("f"));
  EXPECT_THAT([&] { options.integer("b", 0); }, ThrowsMessage<Error>(HasSubstr("a single value")));
  EXPECT_THAT([&] { options.texts("a"); }, ThrowsMessage<Error>(HasSubstr("a list")));
  EXPECT_THAT([&] { options.flag("a"); }, ThrowsMessage<Error>(HasSubstr("file: option a is '1'")));
  const ModelOptions list{{"b", "[3, 4]"}};
  EXPECT_EQ(list.integers("b"), (std::vector<std::int64_t>{3, 4}));
  EXPECT_THROW(ModelOptions::from_yaml("- 1\n", "file"), Error);
}

TEST_F(Architectures, RegistrationsAreRefused) {
  EXPECT_THAT(architecture_names(), IsSupersetOf({"s2s", "amun", "nematus", "transformer"}));
  const auto refused = [](const ArchitectureDef& architecture, const char* message) {
    EXPECT_THAT([&] { register_architecture(architecture); },
                ThrowsMessage<Error>(HasSubstr(message)));
  };
  refused({"s2s", "A test.", build_bigram}, "there is an architecture 's2s' already");
  refused({"ext_bigram", "A test.", build_bigram}, "'ext_bigram' already");
  refused({"", "A test.", build_bigram}, "lacks a name");
  refused({"ext_other", "", build_bigram}, "lacks a summary");
  refused({"ext_other", "A test.", nullptr}, "lacks the function");
  EXPECT_THAT([] { find_architecture("transfomer"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("type 'transfomer' is not supported"),
                                         HasSubstr("did you mean 'transformer'?"),
                                         HasSubstr("s2s, amun, nematus, transformer"))));
  EXPECT_THAT([] { find_architecture("char-s2s"); },
              ThrowsMessage<Error>(HasSubstr("type 'char-s2s' is not supported: its encoder")));
}

/// A Marian file with this configuration and the example's weights.
std::string marian_file(const std::string& yaml) {
  std::string path = temp_path("bigram.bin");
  std::vector<support::BinItem> items{support::config_item(yaml)};
  for (const auto& [name, tensor] : weights()) items.push_back(support::plain_item(name, tensor));
  write_file_atomically(path, support::marian_bin(items));
  return path;
}

TEST_F(Architectures, AreTypesOfMarianModels) {
  const auto load = [](const std::string& yaml) { return load_model(marian_file(yaml)); };
  const Model model =
      load("type: ext_bigram\ndim-emb: 4\nright-left: true\ndim-vocabs: [6, 6]\nversion: v1.10\n");
  EXPECT_TRUE(model.right_left);
  EXPECT_TRUE(same_graph(
      model.graph, build_model("ext_bigram", options_of({{"dim-emb", "4"}}), weights()).graph));
  EXPECT_THAT([&] { load("type: ext_bigram\ndim-emb: 4\nshrp: true\n"); },
              ThrowsMessage<Error>(AllOf(HasSubstr(".bin: "), HasSubstr("unknown option 'shrp'"))));
  EXPECT_THAT([&] { load("type: ext_bigram\ndim-emb: 4\ndim-vocabs: [7, 6]\n"); },
              ThrowsMessage<Error>(HasSubstr("dim-vocabs is [7, 6]")));
  EXPECT_THAT([&] { load("type: ext_bigrm\n"); },
              ThrowsMessage<Error>(HasSubstr("did you mean 'ext_bigram'?")));
  std::filesystem::remove(temp_path("bigram.bin"));
}

TEST_F(Architectures, AreNamedByModelDirectories) {
  const std::string directory = temp_path("bigram");
  std::filesystem::create_directory(directory);
  const auto load = [&](const std::string& config) {
    write_file_atomically(directory + "/config.json", config);
    return load_model(directory);
  };
  write_safetensors(directory + "/weights.safetensors", weights(), {});
  const Model model = load(R"({"fuselage-model": 1, "name": "two words", "right-left": true,
    "architecture": "ext_bigram", "options": {"dim-emb": 4, "sharp": true}})");
  EXPECT_EQ(model.graph.name(), "two words");
  EXPECT_TRUE(model.right_left);
  EXPECT_EQ(model.weights.size(), 2u);
  EXPECT_THAT([&] { load(R"({"fuselage-model": 1, "options": {"dim-emb": 4}})"); },
              ThrowsMessage<Error>(HasSubstr("'architecture', which is missing")));
  EXPECT_THAT(
      [&] { load(R"({"fuselage-model": 1, "architecture": "ext_bigram", "options": [4]})"); },
      ThrowsMessage<Error>(HasSubstr("'options' must be an object")));
  write_file_atomically(directory + "/graph.ir", "fuselage.graph 1\n");
  EXPECT_THAT([&] { load(R"({"fuselage-model": 1, "architecture": "ext_bigram"})"); },
              ThrowsMessage<Error>(HasSubstr("the directory has a graph.ir")));
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace fuselage
