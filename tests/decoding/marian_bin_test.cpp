// Models in .bin files, made of .npz ones, against those whose weights were rounded in the same
// way.

#include "models/formats/marian_bin.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <sstream>

#include "base/files/file.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"
#include "fuselage/decoding/scorer.h"
#include "fuselage/decoding/translator.h"
#include "fuselage/models/directory/model_directory.h"
#include "fuselage/models/load_model.h"
#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/precision/quantize.h"
#include "fuselage/ops/registry.h"
#include "fuselage/ops/structure/leaf.h"
#include "graph/traversal.h"
#include "models/formats/npz.h"
#include "tests/decoding/support.h"
#include "tests/models/marian_bin_writer.h"

namespace fuselage {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// How a model is written.
struct Style {
  std::string name;
  std::uint64_t type;      ///< of quantized matrices; 0: none is
  std::int64_t width = 0;  ///< of the registers they are packed for
  bool fork = false;       ///< embeddings are quantized, too
  bool multipliers = false;
};

/// Marian quantizes what is called …_W or …_W and one character more.
bool is_matrix(const std::string& name) {
  const std::size_t at = name.find("_W");
  return at != std::string::npos && at + 3 >= name.size();
}

bool is_table(const std::string& name) { return name.find("Wemb") != std::string::npos; }

/// What the activations of each matrix are multiplied by: not the same for all.
float multiplier_of(const std::string& name) {
  return 14.3F + 1.1F * static_cast<float>(name.size() % 7);
}

class Writer {
 public:
  Writer(const std::string& npz, Style style) : style_(std::move(style)) {
    const NpzFile file = read_npz(npz);
    for (const auto& [name, tensor] : file.tensors) add(name, tensor);
    if (style_.multipliers) add_multiplier("none", false);
    items_.push_back(support::config_item(file.config_yaml));
  }

  std::vector<support::BinItem>& items() { return items_; }
  std::string bytes() const { return support::marian_bin(items_); }
  /// What the quantized weights stand for.
  const TensorMap& rounded() const { return rounded_; }
  /// Weights that have multipliers.
  const std::set<std::string>& multiplied() const { return multiplied_; }

 private:
  void add(const std::string& name, const Tensor& tensor) {
    const bool table = style_.fork && is_table(name);
    if (style_.type == 0 || (!table && !is_matrix(name))) {
      items_.push_back(support::plain_item(name, tensor));
      return;
    }
    items_.push_back(table ? support::table_item(name, tensor, style_.type)
                           : support::quantized_item(name, tensor, style_.type, style_.width));
    rounded_.emplace(name, support::BinQuantizer{style_.type}.rounded(tensor));
    if (!style_.multipliers || name.ends_with("_Wt")) return;
    add_multiplier(name, table);
    multiplied_.insert(name);
  }

  void add_multiplier(const std::string& name, bool quantized) {
    Tensor multiplier(DType::f32, {1, 1});
    multiplier.mutable_data<float>()[0] = multiplier_of(name);
    items_.push_back(quantized ? support::table_item(name + "_QuantMultA", multiplier, style_.type)
                               : support::plain_item(name + "_QuantMultA", multiplier));
  }

  Style style_;
  std::vector<support::BinItem> items_;
  TensorMap rounded_;
  std::set<std::string> multiplied_;
};

/// The .npz model with rounded weights, and with rows rounded before products that have
/// multipliers.
Model expected_model(const std::string& npz, const Writer& writer) {
  Model model = load_model(npz);
  for (const auto& [name, tensor] : writer.rounded()) {
    EXPECT_EQ(model.weights.count(name), 1u) << name;
    model.weights[name] = tensor.reshaped(model.weights.at(name).shape());
  }
  Graph& graph = model.graph;
  for (const NodeId id : graph.nodes()) {
    if (!graph.node(id).is<op::Matmul>()) continue;
    const Node& param = graph.producer(graph.node(id).operands[1]);
    const auto name = param.as<ExternalName>().name;
    if (writer.multiplied().count(name) == 0) continue;
    const NodeId scale = add_node(graph, op::Constant{.values = {1 / multiplier_of(name)}});
    const NodeId rows =
        add_node(graph, op::Quantize{}, {graph.node(id).operands[0], graph.result(scale)});
    graph.set_operand({id, 0}, graph.result(rows));
  }
  return model;
}

std::vector<std::string> lines(const std::string& path, std::size_t count) {
  std::istringstream stream(read_file(path));
  std::vector<std::string> result(count);
  for (std::string& line : result) std::getline(stream, line);
  return result;
}

constexpr std::size_t kLines = 6;

class MarianBinModel : public ::testing::TestWithParam<std::tuple<std::string, Style>> {
 protected:
  void SetUp() override {
    data_ = support::conformance_case(std::get<0>(GetParam()));
    writer_ = std::make_unique<Writer>(npz(), style());
    write_file_atomically(path_, writer_->bytes());
  }

  const Style& style() const { return std::get<1>(GetParam()); }
  bool narrow() const { return (style().type & 0xFF) == 1; }
  std::string npz() const { return data_ + "/model.npz"; }
  Model expected() const { return expected_model(npz(), *writer_); }

  /// Word by word, line after line.
  std::vector<float> score(Model model, CompileOptions compile) const {
    ScorerOptions options;
    // Integers run as such by default.
    compile.precision = compile.precision.value_or(Precision::fp32);
    options.compile = std::move(compile);
    options.vocabularies.paths = support::vocabularies();
    const Scorer scorer(std::move(model), options);
    std::string texts[2];
    for (const std::string& line : lines(data_ + "/input.sp.en", kLines)) texts[0] += line + "\n";
    for (const std::string& line : lines(data_ + "/ref.sp.de", kLines)) texts[1] += line + "\n";
    std::istringstream sources(texts[0]), targets(texts[1]);
    std::vector<float> scores;
    scorer.score(sources, targets, [&](std::size_t, PairScore&& pair) {
      scores.insert(scores.end(), pair.word_scores.begin(), pair.word_scores.end());
    });
    return scores;
  }

  std::vector<std::string> translate(Model model) const {
    TranslatorOptions options;
    options.beam_size = 2;
    options.compile.precision = Precision::fp32;
    options.vocabularies.paths = support::vocabularies();
    std::vector<std::string> texts;
    for (const Translation& t :
         Translator(std::move(model), options).translate(lines(data_ + "/input.sp.en", kLines)))
      texts.push_back(t.n_best[0].text);
    return texts;
  }

  static double distance(const std::vector<float>& a, const std::vector<float>& b) {
    EXPECT_EQ(a.size(), b.size());
    EXPECT_GT(a.size(), 20u);
    double largest = 0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      largest = std::max(largest, std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    return largest;
  }

  std::string data_;
  std::unique_ptr<Writer> writer_;
  support::TemporaryFolder folder_;
  const std::string path_ = folder_ / "model.bin";
};

TEST_P(MarianBinModel, ScoresAsRoundedWeightsDo) {
  const Model model = load_model(path_);
  for (const CompileOptions& options : {CompileOptions{.backend = "reference", .passes = "none"},
                                        CompileOptions{.passes = "none"}, CompileOptions{}})
    EXPECT_LT(distance(score(model, options), score(expected(), options)), 1e-5)
        << options.backend << ", passes " << options.passes;
}

TEST_P(MarianBinModel, ScoresAlikeInIntegers) {
  const Model model = load_model(path_);
  const std::vector<float> exact = score(model, {});
  EXPECT_LT(distance(score(model, {.precision = Precision::int8}), exact), 0.2);
  EXPECT_LT(distance(score(model, {.precision = Precision::int16}), exact), narrow() ? 0.2 : 0.005);
}

TEST_P(MarianBinModel, TranslatesAsRoundedWeightsDo) {
  EXPECT_EQ(translate(load_model(path_)), translate(expected()));
}

TEST_P(MarianBinModel, SurvivesAModelDirectory) {
  const Model model = load_model(path_);
  for (const bool half : {false, true}) {
    const std::string directory = folder_ / (half ? "half" : "full");
    save_model_directory(model, support::vocabularies(), directory, {.half = half});
    const Model loaded = load_model(directory);
    EXPECT_TRUE(same_graph(loaded.graph, model.graph));
    ASSERT_EQ(loaded.weights.size(), model.weights.size());
    for (const auto& [name, tensor] : model.weights) {
      const Tensor& read = loaded.weights.at(name);
      ASSERT_EQ(read.dtype(), tensor.dtype()) << name;
      ASSERT_EQ(read.shape(), tensor.shape()) << name;
      if (half && tensor.dtype() == DType::f32) continue;
      EXPECT_EQ(std::memcmp(read.bytes(), tensor.bytes(), tensor.size_bytes()), 0) << name;
    }
  }
}

/// Untied output matrices are stored along the wrong dimension, and quantized again.
TEST_P(MarianBinModel, MultipliesStoredIntegers) {
  Graph graph = load_model(path_).graph;
  optimize(graph, {.precision = narrow() ? Precision::int8 : Precision::int16});
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    const bool at_load = graph.binding(id) == BindingTime::load;
    if (node.is<op::Matmul>() && !at_load) {
      EXPECT_NE(graph.value(node.operands[0]).type.dtype, DType::f32) << graph.describe(id);
    }
    // Rows of embeddings may be quantized by their multiplier, once for all.
    const bool by_multiplier =
        node.is<op::Quantize>() && node.as<op::Quantization>().given_scale > 0;
    if (!node.is<op::Quantize>() || !at_load || by_multiplier) continue;
    // Those of 16 bits must be smaller than stored ones may be.
    if (node.as<op::Quantization>().largest == kLargestOfInt16Rows) continue;
    const Node* source = &graph.producer(node.operands[0]);
    while (source->is<op::Transpose>()) source = &graph.producer(source->operands[0]);
    if (!source->is<op::Dequantize>()) continue;
    const auto name = graph.producer(source->operands[0]).as<ExternalName>().name;
    EXPECT_THAT(name, EndsWith("_Wt"));
  }
}

std::string case_name(const ::testing::TestParamInfo<MarianBinModel::ParamType>& info) {
  std::string name = std::get<0>(info.param) + "_" + std::get<1>(info.param).name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    Cases, MarianBinModel,
    ::testing::Combine(::testing::Values("transformer-post", "transformer-ssru", "s2s-basic"),
                       ::testing::Values(Style{"float", 0}, Style{"int8", 0x10001},
                                         Style{"int16", 0x10002},
                                         Style{"fork_int8", 0x4101, 0, true},
                                         Style{"fork_int16", 0x4102, 0, true},
                                         Style{"fork_multipliers", 0x4101, 0, true, true})),
    case_name);
INSTANTIATE_TEST_SUITE_P(
    Packed, MarianBinModel,
    ::testing::Combine(::testing::Values("transformer-post", "transformer-ssru"),
                       ::testing::Values(Style{"ssse3", 0x18001, 16}, Style{"avx2", 0x11001, 32},
                                         Style{"sse2", 0x14002, 8}, Style{"avx512", 0x12002, 32})),
    case_name);

// --- What is refused ---

class MarianBinErrors : public ::testing::Test {
 protected:
  template <typename Matcher>
  void expect_refused(const std::vector<support::BinItem>& items, Matcher message) const {
    write_file_atomically(path_, support::marian_bin(items));
    EXPECT_THAT([&] { load_model(path_); },
                ThrowsMessage<Error>(AllOf(HasSubstr("model.bin"), message)));
  }

  std::vector<support::BinItem> items_ =
      Writer(support::small_model(), {"fork", 0x4101, 0, true, true}).items();
  support::BinItem& item(const std::string& name) {
    return *std::find_if(items_.begin(), items_.end(),
                         [&](const auto& i) { return i.name == name; });
  }

  support::TemporaryFolder folder_;
  const std::string path_ = folder_ / "model.bin";
};

TEST_F(MarianBinErrors, ModelsWithoutConfiguration) {
  items_.pop_back();
  expect_refused(items_, HasSubstr("no configuration"));
}

TEST_F(MarianBinErrors, MultipliersOfNothing) {
  support::BinItem other = item("encoder_l1_ffn_W1_QuantMultA");
  other.name = "encoder_l9_ffn_W1_QuantMultA";
  items_.push_back(other);
  expect_refused(items_, AllOf(HasSubstr("1 parameter is not used"), HasSubstr(other.name)));
}

TEST_F(MarianBinErrors, MultipliersThatAreNoNumber) {
  for (const float value : {0.0F, -2.0F, INFINITY, NAN}) {
    item("encoder_l1_ffn_W1_QuantMultA").data = support::bytes_of(value);
    expect_refused(items_, AllOf(HasSubstr("'encoder_l1_ffn_W1_QuantMultA'"),
                                 HasSubstr("must be a positive number")));
  }
}

// Then an operand of several products is quantized once.
TEST_F(MarianBinErrors, EqualMultipliersShareAScale) {
  const auto scales = [&] {
    write_file_atomically(path_, support::marian_bin(items_));
    const Graph graph = load_model(path_).graph;
    const auto nodes = graph.nodes();
    return std::count_if(nodes.begin(), nodes.end(), [&](NodeId id) {
      const Node& node = graph.node(id);
      return node.is<op::Constant>() &&
             graph.value(node.results[0]).name.ends_with(".scale_of_rows");
    });
  };
  item("encoder_l1_self_Wk_QuantMultA").data = support::bytes_of(30.5F);
  const auto different = scales();
  item("encoder_l1_self_Wk_QuantMultA").data = item("encoder_l1_self_Wq_QuantMultA").data;
  EXPECT_EQ(scales(), different - 1);
}

TEST_F(MarianBinErrors, MultipliersThatAreAVector) {
  item("encoder_l1_ffn_W1_QuantMultA").shape = {1, 2};
  expect_refused(items_, AllOf(HasSubstr("[1, 2]"), HasSubstr("[1, 1]")));
}

TEST_F(MarianBinErrors, MatricesOfAnotherShape) {
  item("encoder_l1_ffn_W1").shape = {64, 32};
  expect_refused(items_, AllOf(HasSubstr("'encoder_l1_ffn_W1'"), HasSubstr("[32, 64]"),
                               HasSubstr("[64, 32]")));
}

TEST_F(MarianBinErrors, MissingMatrices) {
  item("encoder_l1_ffn_W1").name = "encoder_l1_ffn_W11";
  expect_refused(items_, AllOf(HasSubstr("'encoder_l1_ffn_W1' is missing"),
                               HasSubstr("did you mean 'encoder_l1_ffn_W11'")));
}

}  // namespace
}  // namespace fuselage
