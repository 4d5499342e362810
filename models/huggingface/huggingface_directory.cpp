#include "models/huggingface/huggingface_directory.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "fuselage/models/architectures/architecture.h"
#include "models/directory/json_object.h"
#include "models/huggingface/checkpoint.h"
#include "models/huggingface/config_files.h"
#include "models/huggingface/generation_settings.h"
#include "models/huggingface/text_files.h"

namespace fuselage {
namespace {

/// The options of the equations. Others of a config.json concern training, or are those of the
/// search.
constexpr const char* kOptions[] = {
    "vocab_size",
    "decoder_vocab_size",
    "d_model",
    "max_position_embeddings",
    "scale_embedding",
    "activation_function",
    "encoder_layers",
    "encoder_attention_heads",
    "encoder_ffn_dim",
    "decoder_layers",
    "decoder_attention_heads",
    "decoder_ffn_dim",
    "num_heads",
    "d_kv",
    "d_ff",
    "num_layers",
    "num_decoder_layers",
    "layer_norm_epsilon",
    "relative_attention_num_buckets",
    "relative_attention_max_distance",
    "feed_forward_proj",
    "scale_decoder_outputs",
    "tie_word_embeddings",
    // Not of Transformers: the choice of a user.
    "alignment_layer",
    "alignment_heads",
};

ModelOptions model_options(const HuggingFaceConfig& config) {
  std::string json = "{";
  for (const char* key : kOptions)
    if (const auto value = config.model.find(key);
        value != config.model.end() && !value->is_null()) {
      if (value->is_object() || (value->is_array() && std::string_view(key) != "alignment_heads"))
        throw Error(fmt::format("{}: '{}' must be a single value, not {}",
                                config.path("config.json"), key, shown(*value)));
      json += fmt::format("{}\"{}\": {}", json.size() > 1 ? ", " : "", key, value->dump());
    }
  return ModelOptions::from_yaml(json + "}", config.path("config.json"), /*ignore_unknown=*/true);
}

/// The end symbol, which words of a vocabulary call </s>.
void expect_one_end(const HuggingFaceConfig& config) {
  if (const auto ends = config.ids("eos_token_id"); ends.size() > 1)
    throw Error(fmt::format("{}: 'eos_token_id' lists {} end symbols; only one is supported",
                            config.directory, ends.size()));
}

/// The entry `license` of the YAML at the beginning of README.md, the model card.
std::string license_of(const HuggingFaceConfig& config) {
  constexpr std::size_t kMaxCard = std::size_t{1} << 20;
  if (!config.has_file("README.md")) return "";
  std::istringstream card(read_file(config.path("README.md"), kMaxCard));
  std::string line;
  if (!std::getline(card, line) || !line.starts_with("---")) return "";
  constexpr std::string_view kKey = "license:";
  while (std::getline(card, line) && !line.starts_with("---"))
    if (line.starts_with(kKey)) {
      const std::size_t begin = line.find_first_not_of(" \"'", kKey.size());
      const std::size_t end = line.find_last_not_of(" \"'\r");
      if (begin != std::string::npos && begin <= end) return line.substr(begin, end + 1 - begin);
    }
  return "";
}

/// bf16 if all matrices are stored so; the tables of positions may be computed.
std::optional<Precision> stored_precision_of(const TensorMap& weights) {
  std::optional<Precision> precision;
  for (const auto& [name, tensor] : weights) {
    if (tensor.shape().size() < 2 || name.ends_with("embed_positions.weight")) continue;
    if (tensor.dtype() != DType::bf16) return std::nullopt;
    precision = Precision::bf16;
  }
  return precision;
}

std::string name_of(const std::string& directory) {
  std::error_code error;
  const auto path = std::filesystem::weakly_canonical(directory, error);
  return error || path.filename().empty() ? "model" : path.filename().string();
}

}  // namespace

Model load_huggingface_directory(const std::string& directory) {
  const HuggingFaceConfig config = read_huggingface_config(directory);
  expect_one_end(config);
  const ModelOptions options = model_options(config);
  const TensorMap weights = read_checkpoint(config);
  Model model = build_model(config.class_name, options, weights, name_of(directory));
  TextFiles files = find_text_files(config);
  model.vocabularies = std::move(files.vocabularies);
  model.splitters = std::move(files.splitters);
  model.text = std::move(files.format);
  model.notes = std::move(files.notes);
  model.decode = generation_settings(config, model.notes);
  model.decode.precision = stored_precision_of(weights);
  model.format = "Hugging Face directory";
  model.architecture = config.class_name;
  model.license = license_of(config);
  model.options = options.yaml();
  return model;
}

}  // namespace fuselage
