#include "models/architectures/marian_options.h"

#include <gmock/gmock.h>

#include "fuselage/base/error.h"

namespace fuselage::marian_options_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string error_of(const std::string& yaml, bool ignore_unknown = false) {
  try {
    parse_marian_options(yaml, "m.npz", ignore_unknown);
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("m.npz"));
    EXPECT_THAT(error.what(), ::testing::Not(HasSubstr("\n")));
    return error.what();
  }
  return "";
}

/// What Marian 1.12 writes for a small model.
constexpr const char* kWholeConfiguration = R"(bert-train-type-embeddings: true
bert-type-vocab-size: 2
dec-cell: ssru
dec-cell-base-depth: 2
dec-cell-high-depth: 1
dec-depth: 2
dim-emb: 32
dim-rnn: 1024
dim-vocabs:
  - 1000
  - 1001
enc-cell: gru
enc-cell-depth: 1
enc-depth: 3
enc-type: bidirectional
factors-combine: sum
factors-dim-emb: 0
input-types:
  []
layer-normalization: false
lemma-dependency: ""
lemma-dim-emb: 0
output-omit-bias: false
right-left: false
separator-symbol: "[eos]"
skip: false
tied-embeddings: false
tied-embeddings-all: true
tied-embeddings-src: false
transformer-aan-activation: swish
transformer-aan-depth: 2
transformer-aan-nogate: false
transformer-alibi-shift: false
transformer-alibi-trainable: false
transformer-attention-mask: default
transformer-decoder-autoreg: rnn
transformer-decoder-dim-ffn: 0
transformer-decoder-ffn-depth: 0
transformer-dim-aan: 2048
transformer-dim-ffn: 128
transformer-disable-position-embeddings: false
transformer-ffn-activation: relu
transformer-ffn-depth: 2
transformer-guided-alignment-layer: last
transformer-heads: 4
transformer-no-affine: false
transformer-no-bias: false
transformer-no-projection: false
transformer-pool: false
transformer-postprocess: dan
transformer-postprocess-emb: d
transformer-postprocess-top: ""
transformer-preprocess: ""
transformer-rnn-projection: false
transformer-tied-layers:
  []
transformer-train-position-embeddings: false
type: transformer
ulr: false
ulr-dim-emb: 0
ulr-trainable-transformation: false
version: v1.12.43 c9f287db 2025-06-23 19:47:45 +0000
)";

TEST(MarianOptions, AbsentKeysHaveTheReferenceDefaults) {
  for (const std::string yaml : {"", "\n", "{}", "# nothing\n"}) {
    const MarianOptions options = parse_marian_options(yaml, "m.npz");
    EXPECT_EQ(options.type, "amun");
    EXPECT_EQ(options.dim_emb, 512);
    EXPECT_EQ(options.dim_rnn, 1024);
    EXPECT_EQ(options.dec_cell_base_depth, 2);
    EXPECT_EQ(options.transformer_ffn_activation, "swish");
    EXPECT_EQ(options.transformer_postprocess, "dan");
    EXPECT_EQ(options.transformer_postprocess_emb, "d");
    EXPECT_EQ(options.version_major, -1);
  }
}

TEST(MarianOptions, ReadsAWholeConfiguration) {
  const MarianOptions options = parse_marian_options(kWholeConfiguration, "m.npz");
  EXPECT_EQ(options.type, "transformer");
  EXPECT_EQ(options.dec_cell, "ssru");
  EXPECT_EQ(options.enc_depth, 3);
  EXPECT_THAT(options.dim_vocabs, ElementsAre(1000, 1001));
  EXPECT_THAT(options.input_types, ElementsAre());
  EXPECT_TRUE(options.tied_embeddings_all);
  EXPECT_FALSE(options.tied_embeddings);
  EXPECT_EQ(options.transformer_decoder_autoreg, "rnn");
  EXPECT_EQ(options.transformer_heads, 4);
  EXPECT_EQ(options.transformer_guided_alignment_layer, 0);
  EXPECT_EQ(options.transformer_preprocess, "");
  EXPECT_EQ(options.version_major, 1);
  EXPECT_EQ(options.version_minor, 12);
}

TEST(MarianOptions, ReadsEachKindOfValue) {
  const MarianOptions options = parse_marian_options(
      "right-left: true\ntransformer-tied-layers: [1, 1, 2]\ninput-types: [sequence, sequence]\n"
      "transformer-guided-alignment-layer: 3\ntransformer-preprocess: n\n"
      "transformer-postprocess:\ntransformer-ffn-activation: ''\nversion: v1.9\n",
      "m.npz");
  EXPECT_TRUE(options.right_left);
  EXPECT_THAT(options.transformer_tied_layers, ElementsAre(1, 1, 2));
  EXPECT_THAT(options.input_types, ElementsAre("sequence", "sequence"));
  EXPECT_EQ(options.transformer_guided_alignment_layer, 3);
  EXPECT_EQ(options.transformer_preprocess, "n");
  EXPECT_EQ(options.transformer_postprocess, "");
  EXPECT_EQ(options.transformer_ffn_activation, "");
  EXPECT_EQ(options.version_minor, 9);
}

TEST(MarianOptions, AVersionOfAnotherFormIsNotAnError) {
  for (const std::string version : {"unknown", "v1", "vx.y", "1.", "''", "v-1.2"}) {
    const MarianOptions options = parse_marian_options("version: " + version, "m.npz");
    EXPECT_EQ(options.version_major, -1) << version;
    EXPECT_EQ(options.version_minor, -1) << version;
  }
}

TEST(MarianOptions, WrongValuesNameTheKeyTheValueAndTheRange) {
  const std::tuple<std::string, std::string, std::string> cases[] = {
      {"dim-emb: -5", "option dim-emb is '-5'", "from 1 to 1000000"},
      {"dim-emb: 0", "'0'", "from 1 to 1000000"},
      {"dim-emb: 1e3", "'1e3'", "whole number"},
      {"dim-emb: 512.0", "'512.0'", "whole number"},
      {"dim-emb: 99999999999999999999", "'99999999999999999999'", "whole number"},
      {"dim-emb: [1]", "'1'", "whole number"},
      {"dim-emb: {a: 1}", "'{…}'", "whole number"},
      {"dim-emb:", "dim-emb", "whole number"},
      {"transformer-heads: 0", "transformer-heads is '0'", "from 1 to 1000"},
      {"enc-depth: 1001", "'1001'", "from 1 to 1000"},
      {"skip: 1", "skip is '1'", "true or false"},
      {"skip: [true]", "skip is 'true'", "true or false"},
      {"enc-cell: gruu", "'gruu'", "'gru', 'gru-nematus', 'lstm'"},
      {"enc-type: both", "'both'", "'alternating'"},
      {"transformer-ffn-activation: tanh", "'tanh'", "'swish'"},
      {"transformer-decoder-autoreg: none", "'none'", "'average-attention'"},
      {"transformer-preprocess: na", "'na'", "letters 'dnr'"},
      {"transformer-postprocess: dax", "'dax'", "letters 'danrh'"},
      {"transformer-postprocess-emb: h", "'h'", "letters 'dnr'"},
      {"transformer-postprocess-top: \"n\\n\"", "'n\\x0a'", "letters 'danrh'"},
      {"transformer-tied-layers: [1, 0]", "'1 0'", "from 1"},
      {"transformer-guided-alignment-layer: first", "'first'", "last or a whole number"},
      {"dim-vocabs: 1000", "'1000'", "a list"},
      {"dim-vocabs: [-1]", "'-1'", "from 0"},
      {"dim-vocabs: [[1]]", "'…'", "whole number"},
      {"input-types: [picture]", "'picture'", "'sequence'"},
      {"type: [s2s]", "type is 's2s'", "a single text"},
  };
  for (const auto& [yaml, value, allowed] : cases)
    EXPECT_THAT(error_of(yaml), AllOf(HasSubstr(value), HasSubstr(allowed))) << yaml;
}

TEST(MarianOptions, WrongValuesOfKnownKeysAreNeverIgnored) {
  EXPECT_THAT(error_of("dim-emb: -5", true), HasSubstr("dim-emb"));
}

TEST(MarianOptions, UnknownKeysGetASuggestionUnlessIgnored) {
  EXPECT_THAT(error_of("dim-embs: 4"),
              AllOf(HasSubstr("unknown option 'dim-embs'"), HasSubstr("did you mean 'dim-emb'?")));
  EXPECT_THAT(error_of("beam-size: 4"), ::testing::Not(HasSubstr("did you mean")));
  EXPECT_EQ(error_of("dim-embs: 4\nbeam-size: [1]\n", true), "");
}

TEST(MarianOptions, UnsupportedFeaturesMustBeOff) {
  EXPECT_THAT(error_of("transformer-no-bias: true"),
              AllOf(HasSubstr("transformer-no-bias is 'true'"), HasSubstr("only 'false'")));
  EXPECT_THAT(error_of("lemma-dim-emb: 64"), HasSubstr("lemma-dim-emb is '64'"));
  EXPECT_THAT(error_of("char-conv-filters-num: [1, 2]"), HasSubstr("'1 2'"));
  EXPECT_EQ(error_of("char-conv-filters-widths: [1, 2, 3, 4, 5, 6, 7, 8]"), "");
  EXPECT_EQ(error_of("special-vocab: []\nulr-query-vectors: ''\n"), "");
  EXPECT_EQ(error_of("transformer-no-bias: true", true), "");
}

TEST(MarianOptions, MalformedYamlIsAnError) {
  EXPECT_THAT(error_of("a: [1, 2"), AllOf(HasSubstr("invalid YAML"), HasSubstr("line 1")));
  EXPECT_THAT(error_of("skip: true\n\t- x"), HasSubstr("invalid YAML"));
  EXPECT_THAT(error_of("- a\n- b\n"), HasSubstr("not a mapping"));
  EXPECT_THAT(error_of("just text"), HasSubstr("not a mapping"));
  EXPECT_THAT(error_of("skip: true\nskip: false\n"), HasSubstr("'skip' is given twice"));
  EXPECT_THAT(error_of("? [a]\n: 1\n"), HasSubstr("not a name"));
}

TEST(MarianOptions, HostileYamlIsRefusedQuickly) {
  EXPECT_THAT(error_of("a: " + std::string(65, '[') + std::string(65, ']')),
              HasSubstr("collections nest deeper than 64"));
  EXPECT_THAT(error_of("a: " + std::string(2 << 20, 'x')), HasSubstr("at most 1048576"));
  std::string dashes = "a:\n";
  for (int i = 0; i < 10000; ++i) dashes += "- ";
  EXPECT_THAT(error_of(dashes), HasSubstr("collections nest deeper than 64"));
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'm'; ++c) {
    const std::string last(1, static_cast<char>(c - 1));
    bomb += std::string(1, c) + ": &" + c + " [*" + last + ", *" + last + ", *" + last + ", *" +
            last + ", *" + last + "]\n";
  }
  EXPECT_THAT(error_of(bomb), HasSubstr("more than 100000 values"));
  EXPECT_THAT(error_of(bomb, true), HasSubstr("more than 100000 values"));
}

}  // namespace
}  // namespace fuselage::marian_options_test
