#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "fuselage/base/error.h"
#include "models/architectures/encoder_decoder.h"

namespace fuselage::transformer_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kSize = 8;
constexpr std::int64_t kFfn = 12;
constexpr std::int64_t kWords = 5;

/// Shapes of the parameters of a model of one layer a side, by name.
class Weights {
 public:
  Weights() {
    add("Wemb", kWords, kSize);
    add("decoder_ff_logit_out_b", 1, kWords);
    for (const char* name : {"encoder_l1_self", "decoder_l1_self", "decoder_l1_context"}) {
      attention(name);
      norm(std::string(name) + "_Wo");
    }
    for (const char* name : {"encoder_l1_ffn", "decoder_l1_ffn"}) {
      affine(name, "1", kSize, kFfn);
      affine(name, "2", kFfn, kSize);
      norm(std::string(name) + "_ffn");
    }
  }

  Weights& add(const std::string& name, std::int64_t rows, std::int64_t columns) {
    tensors_[name] = Tensor(DType::f32, {rows, columns});
    return *this;
  }

  Weights& affine(const std::string& name, const std::string& suffix, std::int64_t in = kSize,
                  std::int64_t out = kSize) {
    return add(name + "_W" + suffix, in, out).add(name + "_b" + suffix, 1, out);
  }

  Weights& attention(const std::string& name) {
    for (const char* suffix : {"q", "k", "v", "o"}) affine(name, suffix);
    return *this;
  }

  Weights& norm(const std::string& name, const std::string& suffix = "") {
    return add(name + "_ln_scale" + suffix, 1, kSize).add(name + "_ln_bias" + suffix, 1, kSize);
  }

  /// All parameters whose names begin so.
  Weights& remove(const std::string& prefix) {
    std::erase_if(tensors_, [&](const auto& entry) { return entry.first.starts_with(prefix); });
    return *this;
  }

  /// The self-attention of the decoder gives way to an SSRU.
  Weights& ssru() {
    remove("decoder_l1_self");
    add("decoder_l1_rnn_W", kSize, kSize);
    affine("decoder_l1_rnn", "f");
    return norm("decoder_l1_rnn_ffn");
  }

  const TensorMap& tensors() const { return tensors_; }

 private:
  TensorMap tensors_;
};

MarianOptions small_options() {
  MarianOptions options;
  options.type = "transformer";
  options.dim_emb = kSize;
  options.transformer_heads = 2;
  options.transformer_dim_ffn = kFfn;
  options.tied_embeddings_all = true;
  return options;
}

/// Builds the graph and checks that every parameter has its place in it.
Graph build(const MarianOptions& options, const Weights& weights) {
  Builder builder("test");
  Parameters parameters(builder, weights.tensors(), "m.npz");
  build_encoder_decoder(parameters, options);
  parameters.take();
  return builder.take();
}

std::string error_of(const MarianOptions& options, const Weights& weights = {}) {
  try {
    build(options, weights);
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::Not(HasSubstr("\n")));
    return error.what();
  }
  return "";
}

std::string error_with(void (*change)(MarianOptions&)) {
  MarianOptions options = small_options();
  change(options);
  return error_of(options);
}

std::int64_t count(const Graph& graph, std::string_view op) {
  const std::vector<NodeId> nodes = graph.nodes();
  return std::count_if(nodes.begin(), nodes.end(),
                       [&](NodeId id) { return graph.node(id).op->name == op; });
}

/// What is multiplied with a parameter.
ValueId factor_of(const Graph& graph, const std::string& parameter) {
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (node.op->name == "matmul" && graph.value(node.operands[1]).name == parameter)
      return node.operands[0];
  }
  throw Error(fmt::format("no product with {}", parameter));
}

std::string_view op_before(const Graph& graph, const std::string& parameter) {
  return graph.producer(factor_of(graph, parameter)).op->name;
}

std::string shape_of(const Graph& graph, ValueId id) { return graph.show(graph.value(id).type); }

TEST(Transformer, GivesLogitsAndOneHeadOfTheAlignment) {
  const Graph graph = build(small_options(), {});
  EXPECT_EQ(shape_of(graph, graph.find_output("logits")), "hyp f32[5]");
  EXPECT_EQ(shape_of(graph, graph.find_output("alignment")), "hyp_source f32[1]");
}

TEST(Transformer, ProjectsKeysAndValuesOncePerToken) {
  const Graph graph = build(small_options(), {});
  EXPECT_EQ(shape_of(graph, factor_of(graph, "encoder_l1_self_Wk")), "source f32[8]");
  EXPECT_EQ(shape_of(graph, factor_of(graph, "decoder_l1_context_Wv")), "source f32[8]");
  EXPECT_EQ(shape_of(graph, factor_of(graph, "decoder_l1_self_Wk")), "prefix f32[8]");
  EXPECT_EQ(shape_of(graph, factor_of(graph, "decoder_l1_self_Wq")), "hyp f32[8]");
}

TEST(Transformer, AnRnnDecoderHasStatesInsteadOfAPrefix) {
  MarianOptions options = small_options();
  options.transformer_decoder_autoreg = "rnn";
  options.dec_cell = "ssru";
  const Graph graph = build(options, Weights().ssru());
  EXPECT_FALSE(graph.find_domain("prefix").valid());
  EXPECT_EQ(count(graph, "state"), 1);
  EXPECT_EQ(count(graph, "next"), 1);
}

TEST(Transformer, AnRnnDecoderMayProjectAndNormalize) {
  MarianOptions options = small_options();
  options.transformer_decoder_autoreg = "rnn";
  options.dec_cell = "ssru";
  options.transformer_rnn_projection = true;
  options.layer_normalization = true;
  options.transformer_preprocess = "n";
  Weights weights;
  weights.ssru().affine("decoder_l1_rnn", "o");
  weights.add("decoder_l1_rnn_gamma", 1, kSize).add("decoder_l1_rnn_gammaf", 1, kSize);
  for (const char* name : {"encoder_l1_self_Wo", "encoder_l1_ffn_ffn", "decoder_l1_rnn",
                           "decoder_l1_context_Wo", "decoder_l1_ffn_ffn"})
    weights.norm(name, "_pre");
  EXPECT_EQ(error_of(options, weights), "");
}

TEST(Transformer, EveryOperationHasItsParameters) {
  MarianOptions options = small_options();
  options.transformer_preprocess = "dr";
  options.transformer_postprocess = "danrh";
  options.transformer_postprocess_emb = "nd";
  options.transformer_postprocess_top = "ahr";
  Weights weights;
  for (const char* name : {"encoder_l1_self_Wo", "encoder_l1_ffn_ffn", "decoder_l1_self_Wo",
                           "decoder_l1_context_Wo", "decoder_l1_ffn_ffn"}) {
    weights.add(std::string(name) + "_rms_scale", 1, kSize);
    weights.add(std::string(name) + "_rms_scale_pre", 1, kSize);
    weights.affine(name, "h");
  }
  for (const std::string side : {"encoder", "decoder"}) {
    weights.norm(side + "_emb", "_pre");
    weights.affine(side + "_top", "h").add(side + "_top_rms_scale", 1, kSize);
  }
  EXPECT_EQ(error_of(options, weights), "");
}

TEST(Transformer, LettersApplyInOrder) {
  MarianOptions options = small_options();
  options.transformer_postprocess = "nda";
  EXPECT_EQ(op_before(build(options, {}), "decoder_l1_ffn_W1"), "add");
  options.transformer_postprocess = "dan";
  EXPECT_EQ(op_before(build(options, {}), "decoder_l1_ffn_W1"), "layer_norm");
}

TEST(Transformer, TheVersionDecidesWhatSelfAttentionAttendsTo) {
  MarianOptions options = small_options();
  options.transformer_preprocess = "n";
  Weights weights;
  for (const char* name : {"encoder_l1_self_Wo", "encoder_l1_ffn_ffn", "decoder_l1_self_Wo",
                           "decoder_l1_context_Wo", "decoder_l1_ffn_ffn"})
    weights.norm(name, "_pre");
  const std::tuple<int, int, bool> versions[] = {{1, 9, false}, {1, 10, false}, {0, 12, false},
                                                 {1, 11, true}, {2, 0, true},   {-1, -1, true}};
  for (const auto& [major, minor, normalized] : versions) {
    SCOPED_TRACE(fmt::format("{}.{}", major, minor));
    options.version_major = major;
    options.version_minor = minor;
    const Graph graph = build(options, weights);
    const auto attends_to_query = [&](const std::string& name, const std::string& matrix) {
      ValueId memory = factor_of(graph, name + matrix);
      if (graph.producer(memory).op->name == "history") memory = graph.producer(memory).operands[0];
      return memory == factor_of(graph, name + "_Wq");
    };
    for (const char* matrix : {"_Wk", "_Wv"}) {
      EXPECT_EQ(attends_to_query("encoder_l1_self", matrix), normalized);
      EXPECT_EQ(attends_to_query("decoder_l1_self", matrix), normalized);
    }
    EXPECT_EQ(op_before(graph, "encoder_l1_self_Wq"), "layer_norm");
    EXPECT_EQ(graph.value(factor_of(graph, "decoder_l1_context_Wk")).name, "context");
  }
}

TEST(Transformer, FeedForwardLayersMayDifferInTheDecoder) {
  MarianOptions options = small_options();
  options.transformer_ffn_depth = 3;
  options.transformer_decoder_ffn_depth = 1;
  Weights weights;
  weights.affine("encoder_l1_ffn", "2", kFfn, kFfn).affine("encoder_l1_ffn", "3", kFfn, kSize);
  weights.remove("decoder_l1_ffn_W2").remove("decoder_l1_ffn_b2");
  weights.affine("decoder_l1_ffn", "1");
  EXPECT_EQ(error_of(options, weights), "");

  options = small_options();
  options.transformer_decoder_dim_ffn = 6;
  weights = Weights();
  weights.affine("decoder_l1_ffn", "1", kSize, 6).affine("decoder_l1_ffn", "2", 6, kSize);
  EXPECT_EQ(error_of(options, weights), "");
}

TEST(Transformer, TheActivationIsTheOneOfTheOption) {
  MarianOptions options = small_options();
  for (const char* name : {"relu", "swish", "gelu", "sigmoid"}) {
    options.transformer_ffn_activation = name;
    EXPECT_EQ(count(build(options, {}), name), 2) << name;
  }
  options.transformer_ffn_activation = "";
  EXPECT_EQ(count(build(options, {}), "swish"), 0);
}

TEST(Transformer, AttentionMayGoWithoutProjection) {
  MarianOptions options = small_options();
  options.transformer_no_projection = true;
  Weights weights;
  for (const std::string name : {"encoder_l1_self", "decoder_l1_self", "decoder_l1_context"}) {
    weights.remove(name + "_Wo").remove(name + "_bo");
    weights.norm(name + "_Wo");
  }
  EXPECT_EQ(error_of(options, weights), "");
}

TEST(Transformer, EmbeddingsMayBeUntied) {
  MarianOptions options = small_options();
  options.tied_embeddings_all = false;
  Weights weights;
  weights.remove("Wemb").add("encoder_Wemb", 7, kSize).add("decoder_Wemb", kWords, kSize);
  weights.add("decoder_ff_logit_out_Wt", kWords, kSize);
  EXPECT_EQ(shape_of(build(options, weights), build(options, weights).find_output("logits")),
            "hyp f32[5]");
  weights.remove("decoder_ff_logit_out_Wt").add("decoder_ff_logit_out_W", kSize, kWords);
  EXPECT_EQ(error_of(options, weights), "");
}

TEST(Transformer, TiedLayersShareParametersButNotState) {
  MarianOptions options = small_options();
  options.dec_depth = 3;
  options.transformer_tied_layers = {1, 1, 1};
  options.transformer_decoder_autoreg = "rnn";
  options.dec_cell = "ssru";
  const Graph graph = build(options, Weights().ssru());
  std::vector<std::string> states;
  for (const NodeId id : graph.nodes())
    if (graph.node(id).op->name == "state") states.push_back(graph.value(graph.result(id)).name);
  EXPECT_THAT(states, ElementsAre("decoder_l1.state", "decoder_l2.state", "decoder_l3.state"));
}

TEST(Transformer, TheAlignmentComesFromTheLayerThatTheOptionNames) {
  MarianOptions options = small_options();
  options.dec_depth = 2;
  options.transformer_tied_layers = {1, 1};
  const auto alignment_comes_first = [&] {
    const Graph graph = build(options, {});
    const ValueId weights = graph.producer(graph.find_output("alignment")).operands[0];
    for (const NodeId id : graph.nodes())
      if (graph.node(id).op->name == "segment_softmax" &&
          graph.value(graph.result(id)).type.domain == graph.find_domain("hyp_source"))
        return graph.result(id) == weights;
    return false;
  };
  EXPECT_FALSE(alignment_comes_first());
  options.transformer_guided_alignment_layer = 1;
  EXPECT_TRUE(alignment_comes_first());
  options.transformer_guided_alignment_layer = 3;
  EXPECT_THAT(error_of(options), HasSubstr("transformer-guided-alignment-layer 3 does not exist: "
                                           "dec-depth is 2"));
}

TEST(Transformer, TheAutoregressionHasItsParameters) {
  using O = MarianOptions;
  EXPECT_THAT(error_with([](O& o) { o.transformer_decoder_autoreg = "average-attention"; }),
              HasSubstr("'decoder_l1_aan_W1' is missing"));
  EXPECT_THAT(error_with([](O& o) { o.transformer_decoder_autoreg = "rnn"; }),
              HasSubstr("'decoder_l1_rnn_"));
}

TEST(Transformer, TheTableOfPositionsDecidesWhetherTheyAreTrained) {
  MarianOptions options = small_options();
  options.transformer_train_position_embeddings = true;
  // As in Marian, which has this option without an effect.
  EXPECT_EQ(count(build(options, {}), "sinusoid"), 2);
  const Graph trained = build(small_options(), Weights().add("Wpos", 100, kSize));
  EXPECT_EQ(count(trained, "sinusoid"), 0);
  EXPECT_EQ(trained.domain(trained.find_domain("positions")).size, 100);
  options.transformer_disable_position_embeddings = true;
  EXPECT_EQ(count(build(options, {}), "sinusoid"), 0);
}

TEST(Transformer, SizesMustFitTogether) {
  using O = MarianOptions;
  EXPECT_THAT(error_with([](O& o) { o.transformer_heads = 3; }),
              HasSubstr("dim-emb 8 is not a multiple of transformer-heads 3"));
  EXPECT_THAT(error_with([](O& o) {
                o.dim_emb = 9;
                o.transformer_heads = 3;
              }),
              HasSubstr("dim-emb 9 is not supported in a transformer; it must be even"));
  EXPECT_THAT(error_with([](O& o) {
                o.transformer_tied_layers = {1, 2};
              }),
              HasSubstr("transformer-tied-layers lists 2 layers, but dec-depth is 1"));
  EXPECT_THAT(error_with([](O& o) { o.transformer_dim_ffn = 16; }),
              AllOf(HasSubstr("'encoder_l1_ffn_W1' has shape [8, 12]"), HasSubstr("[8, 16]")));
  EXPECT_THAT(error_with([](O& o) { o.transformer_preprocess = "n"; }),
              HasSubstr("'encoder_l1_self_Wo_ln_scale_pre' is missing"));
  EXPECT_THAT(error_with([](O& o) { o.transformer_postprocess = "da"; }),
              HasSubstr("not used by the architecture"));
}

}  // namespace
}  // namespace fuselage::transformer_test
