#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fuselage {

/// The options in a Marian model's YAML that affect inference. An absent key has the default below.
/// A field has the name of its key, with '_' for '-'. Only single values are checked here; the
/// architecture checks combinations.
struct MarianOptions {
  std::string type = "amun";
  std::string original_type;
  /// Vocabulary sizes, one per stream, the target last; 0: not stated.
  std::vector<std::int64_t> dim_vocabs = {0, 0};
  /// Empty, or one of "sequence", "class", "alignment", "weight" per stream.
  std::vector<std::string> input_types;
  bool right_left = false;

  std::int64_t dim_emb = 512;
  std::int64_t dim_rnn = 1024;
  std::string enc_type = "bidirectional";
  std::string enc_cell = "gru";
  std::int64_t enc_cell_depth = 1;
  std::int64_t enc_depth = 1;
  std::string dec_cell = "gru";
  std::int64_t dec_cell_base_depth = 2;
  std::int64_t dec_cell_high_depth = 1;
  std::int64_t dec_depth = 1;
  bool skip = false;
  bool layer_normalization = false;
  /// No option of Marian: in the higher cells of the decoder the biases are added to the products
  /// with the state, before the reset gate, as in models that Nematus trained with TensorFlow.
  bool nematus_high_state_bias = false;

  bool tied_embeddings = false;
  bool tied_embeddings_src = false;
  bool tied_embeddings_all = false;
  bool output_omit_bias = false;

  std::int64_t transformer_heads = 8;
  bool transformer_no_projection = false;
  bool transformer_rnn_projection = false;
  bool transformer_pool = false;
  std::int64_t transformer_dim_ffn = 2048;
  /// 0: as in the encoder.
  std::int64_t transformer_decoder_dim_ffn = 0;
  std::int64_t transformer_ffn_depth = 2;
  /// 0: as in the encoder.
  std::int64_t transformer_decoder_ffn_depth = 0;
  /// Empty: identity.
  std::string transformer_ffn_activation = "swish";
  std::int64_t transformer_dim_aan = 2048;
  std::int64_t transformer_aan_depth = 2;
  std::string transformer_aan_activation = "swish";
  bool transformer_aan_nogate = false;
  std::string transformer_decoder_autoreg = "self-attention";
  /// Empty, or per decoder layer the 1-based number of the layer whose parameters it uses.
  std::vector<std::int64_t> transformer_tied_layers;
  /// 1-based decoder layer; 0 means "last".
  std::int64_t transformer_guided_alignment_layer = 0;
  std::string transformer_preprocess;
  std::string transformer_postprocess = "dan";
  std::string transformer_postprocess_emb = "d";
  std::string transformer_postprocess_top;
  bool transformer_train_position_embeddings = false;
  bool transformer_disable_position_embeddings = false;
  bool transformer_depth_scaling = false;

  /// Version of the program that wrote the model: "v1.10.0 6f6d484 2021-…"; empty: not stated.
  std::string version;
  /// The 1 and the 10 of `version`; -1: not stated or of another form.
  int version_major = -1;
  int version_minor = -1;
};

/// Whether a model's configuration may have the option `name`, be it supported here or not.
bool is_marian_model_option(std::string_view name);

/// Reads the YAML mapping of special:model.yml; `where` names its file in errors. Throws Error for
/// a value out of range (with the key, the value and the allowed values), for an unknown or
/// repeated key, and for an unsupported feature that is not at its default, off. With
/// `ignore_unknown`, unknown keys and unsupported features are ignored.
MarianOptions parse_marian_options(const std::string& yaml, const std::string& where,
                                   bool ignore_unknown = false);

}  // namespace fuselage
