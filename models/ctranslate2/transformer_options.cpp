#include "models/ctranslate2/transformer_options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>

#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

constexpr std::uint32_t kFirstRevision = 2, kLastRevision = 7;
/// Revisions from which the number of heads is stored, and each side has attributes of its own.
constexpr std::uint32_t kFirstWithHeads = 3, kFirstWithSides = 5;
/// By their number in the file; see activation() of the architecture.
constexpr std::array kActivations = {"relu",       "gelu_new", "swish",  "gelu",
                                     "quick_gelu", "tanh",     "sigmoid"};
constexpr const char* kFirstSourceTable = "encoder/embeddings_0/weight";
constexpr const char* kSecondSourceTable = "encoder/embeddings_1/weight";
/// The same in revisions that have one table only.
constexpr const char* kOnlySourceTable = "encoder/embeddings/weight";

/// Attributes without an effect on their own.
constexpr std::array<std::string_view, 4> kWithoutEffect = {
    "alibi_use_positive_positions", "scale_alibi", "embeddings_merge", "num_source_embeddings"};

void expect_supported_kind(const Ctranslate2File& file, const std::string& where) {
  if (file.kind == "TransformerDecoderSpec")
    throw Error(
        fmt::format("{}: this is a language model of CTranslate2 ({}), which is not "
                    "supported, only models that translate (TransformerSpec)",
                    where, file.kind));
  if (file.kind != "TransformerSpec" && file.kind != "TransformerBase" &&
      file.kind != "TransformerBig")
    throw Error(
        fmt::format("{}: models of the kind {} are not supported, only transformers that "
                    "translate text (TransformerSpec, TransformerBase, TransformerBig)",
                    where, in_quotes(file.kind)));
  if (file.revision < kFirstRevision || file.revision > kLastRevision)
    throw Error(
        fmt::format("{}: revision {} of {} is not supported, only {} to {}; convert the model "
                    "again, with a release of CTranslate2 that has these",
                    where, file.revision, file.kind, kFirstRevision, kLastRevision));
}

std::string number_text(double number) { return fmt::format("{}", static_cast<float>(number)); }

class OptionReader {
 public:
  OptionReader(const Ctranslate2File& file, const std::string& where)
      : file_(file), where_(where) {}

  std::map<std::string, std::string> read(const Ctranslate2Configuration& configuration) {
    if (file_.find(kSecondSourceTable) != nullptr)
      throw Error(
          fmt::format("{}: the model has several source embeddings ({}): factors of "
                      "words are not supported",
                      where_, kSecondSourceTable));
    const std::string source = ctranslate2_source_table(file_);
    width_ = size(source, 1);
    options_["dim-emb"] = std::to_string(width_);
    options_["dim-vocabs"] =
        fmt::format("[{}, {}]", size(source, 0), size(kCtranslate2TargetTable, 0));
    options_["source-table"] = file_.stored_name(source);
    options_["target-table"] = file_.stored_name(kCtranslate2TargetTable);
    options_["output-table"] = file_.stored_name(kCtranslate2OutputTable);
    if (configuration.norm_epsilon)
      options_["layer-norm-epsilon"] = number_text(*configuration.norm_epsilon);
    if (file_.find("encoder/layer_0/ffn/layer_norm/beta") == nullptr) options_["rms-norm"] = "true";
    read_side("encoder");
    read_side("decoder");
    read_decoder();
    expect_no_others();
    return std::move(options_);
  }

 private:
  /// Size `dimension` of a matrix.
  std::int64_t size(const std::string& name, std::size_t dimension) const {
    const Ctranslate2Variable* const variable = file_.find(name);
    if (variable == nullptr)
      throw Error(fmt::format("{}: variable {} is missing, so this is no model of the kind {}",
                              where_, in_quotes(name), file_.kind));
    if (variable->shape.size() != 2)
      throw Error(fmt::format("{}: variable {} has shape {}, a matrix is needed", where_,
                              in_quotes(name), shape_to_string(variable->shape)));
    return variable->shape[dimension];
  }

  std::optional<double> read_attribute(const std::string& name) {
    const auto value = attribute_of(file_, name);
    if (value) read_.insert(file_.stored_name(name));
    return value;
  }

  /// An attribute of a side, or in earlier revisions of both.
  double side_attribute(const std::string& side, const std::string& name, double otherwise) {
    auto value = read_attribute(side + "/" + name);
    if (!value && file_.revision < kFirstWithSides) value = read_attribute(name);
    return value.value_or(otherwise);
  }

  void read_side(const std::string& side) {
    const double most_heads = 1024;
    const double default_heads =
        file_.revision < kFirstWithHeads && file_.kind == "TransformerBig" ? 16 : 8;
    const double heads = side_attribute(side, "num_heads", default_heads);
    if (!(heads >= 1 && heads <= most_heads))
      throw Error(fmt::format("{}: {}/num_heads is {}, it must be from 1 to {}", where_, side,
                              heads, most_heads));
    heads_ = static_cast<std::int64_t>(heads);
    const double activation = side_attribute(side, "activation", 0);
    if (!(activation >= 0 && activation < static_cast<double>(kActivations.size())))
      throw Error(fmt::format("{}: {}/activation is {}, only 0 to {} are known", where_, side,
                              activation, kActivations.size() - 1));
    std::int64_t layers = 0;
    while (file_.find(fmt::format("{}/layer_{}/self_attention/linear_0/weight", side, layers)))
      read_layer(fmt::format("{}/layer_{}", side, layers++));
    const auto state = [&](const char* name, std::string value) {
      options_[fmt::format("{}-{}", side, name)] = std::move(value);
    };
    state("layers", std::to_string(layers));
    state("heads", std::to_string(heads_));
    state("dim-head", std::to_string(head_width(side)));
    state("dim-ffn", std::to_string(size(side + "/layer_0/ffn/linear_0/weight", 0)));
    state("pre-norm", side_attribute(side, "pre_norm", 1) != 0 ? "true" : "false");
    state("activation", kActivations[static_cast<std::size_t>(activation)]);
    state("embedding-scale", number_text(embedding_scale(side)));
    state("queries-scale", number_text(queries_scale_.value_or(0)));
    queries_scale_.reset();
    if (const auto distance =
            read_attribute(side + "/layer_0/self_attention/relative_attention_max_distance"))
      state("max-distance", number_text(*distance));
  }

  std::int64_t head_width(const std::string& side) const {
    const std::string name = side + "/layer_0/self_attention/linear_0/weight";
    const std::int64_t rows = size(name, 0);
    if (rows == 0 || rows % (3 * heads_) != 0)
      throw Error(
          fmt::format("{}: variable {} has {} rows, which are no queries, keys and values of {} "
                      "heads each",
                      where_, in_quotes(name), rows, heads_));
    return rows / (3 * heads_);
  }

  void read_layer(const std::string& layer) {
    for (const char* part : {"/self_attention", "/attention"}) {
      const std::string name = layer + part;
      if (file_.find(name + "/linear_0/weight") == nullptr) continue;
      if (const auto heads = read_attribute(name + "/num_heads_kv");
          heads && *heads != static_cast<double>(heads_))
        throw Error(
            fmt::format("{}: {} has {} heads of keys and values for {} of queries, which is not "
                        "supported (multi-query attention)",
                        where_, name, *heads, heads_));
      const std::int64_t default_width = width_ / heads_;
      const double width =
          read_attribute(name + "/head_dim").value_or(static_cast<double>(default_width));
      const double scale =
          read_attribute(name + "/queries_scale").value_or(1 / std::sqrt(std::max(width, 1.0)));
      if (scale != queries_scale_.value_or(scale))
        throw Error(
            fmt::format("{}: the queries of {} are scaled by {}, those before by {}; a "
                        "side must have one scale",
                        where_, name, scale, *queries_scale_));
      queries_scale_ = scale;
      // Only the distances of the first layer count.
      if (!layer.ends_with("/layer_0")) read_attribute(name + "/relative_attention_max_distance");
    }
    if (read_attribute(layer + "/layer_scalar").value_or(1) != 1)
      throw Error(fmt::format("{}: {}/layer_scalar is not supported", where_, layer));
  }

  /// A factor, or whether it is the root of the width; by default it is.
  double embedding_scale(const std::string& side) {
    std::string name = side + "/scale_embeddings";
    if (file_.find(name) == nullptr) {
      name = ctranslate2_source_table(file_);
      if (side == "decoder") name = kCtranslate2TargetTable;
      name.replace(name.rfind('/') + 1, std::string::npos, "multiply_by_sqrt_depth");
    }
    const Ctranslate2Variable* const stored = file_.find(name);
    const auto value = read_attribute(name);
    const double root = std::sqrt(static_cast<double>(width_));
    if (!value || (stored->dtype == DType::i8 && *value != 0)) return root;
    return stored->dtype == DType::i8 ? 1 : *value;
  }

  void read_decoder() {
    const auto layers = static_cast<double>(std::stoll(options_["decoder-layers"]));
    double layer = side_attribute("decoder", "alignment_layer", -1);
    if (layer < 0) layer += layers;
    if (!(layer >= 0 && layer < layers))
      throw Error(fmt::format("{}: the layer of alignments is {}, but the decoder has {} layers",
                              where_, layer, layers));
    const double heads = side_attribute("decoder", "alignment_heads", 1);
    if (!(heads >= 0 && heads <= static_cast<double>(heads_)))
      throw Error(fmt::format("{}: alignments are of {} heads, but the decoder has {}", where_,
                              heads, heads_));
    options_["alignment_layer"] = number_text(layer);
    // The first ones; 0: all.
    std::vector<std::int64_t> first(static_cast<std::size_t>(heads));
    std::iota(first.begin(), first.end(), 0);
    options_["alignment_heads"] = fmt::format("[{}]", fmt::join(first, ", "));
    if (read_attribute("decoder/start_from_zero_embedding").value_or(0) != 0)
      options_["start-from-zero-embedding"] = "true";
    if (const auto scale = read_attribute("decoder/scale_outputs"))
      options_["output-scale"] = number_text(*scale);
    for (const char* name : {"unk_token", "bos_token", "eos_token", "with_source_bos",
                             "with_source_eos", "with_target_bos", "user_decoder_start_tokens"})
      read_attribute(name);
  }

  /// Refuses attributes that change the equations and that nothing has read.
  void expect_no_others() const {
    for (const auto& [name, variable] : file_.variables) {
      if (!is_ctranslate2_attribute(name, variable) || read_.contains(name)) continue;
      const std::string_view last = std::string_view(name).substr(name.rfind('/') + 1);
      if (last.ends_with("_token") ||
          std::find(kWithoutEffect.begin(), kWithoutEffect.end(), last) != kWithoutEffect.end())
        continue;
      const double value = attribute_of(file_, name).value_or(0);
      if (value != 0)
        throw Error(fmt::format("{}: the attribute {}, which is {}, is not supported", where_,
                                in_quotes(name), value));
    }
  }

  const Ctranslate2File& file_;
  const std::string& where_;
  std::int64_t width_ = 0, heads_ = 1;
  std::optional<double> queries_scale_;  ///< of the side that is read
  std::map<std::string, std::string> options_;
  std::set<std::string> read_;  ///< attributes
};

}  // namespace

std::string ctranslate2_source_table(const Ctranslate2File& file) {
  return file.find(kOnlySourceTable) != nullptr ? kOnlySourceTable : kFirstSourceTable;
}

bool is_ctranslate2_attribute(const std::string& name, const Ctranslate2Variable& variable) {
  if (name.ends_with("/weight_scale")) return false;
  return variable.shape.empty() || (variable.dtype == DType::i8 && name.ends_with("_token"));
}

std::map<std::string, std::string> ctranslate2_options(
    const Ctranslate2File& file, const Ctranslate2Configuration& configuration,
    const std::string& where) {
  expect_supported_kind(file, where);
  return OptionReader(file, where).read(configuration);
}

}  // namespace fuselage
