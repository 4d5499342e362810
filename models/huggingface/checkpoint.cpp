#include "models/huggingface/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "base/files/file.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "fuselage/models/formats/safetensors.h"
#include "models/architectures/bart.h"
#include "models/architectures/embedding_tables.h"
#include "models/directory/json_object.h"
#include "models/formats/json.h"

namespace fuselage {
namespace {

using Json = nlohmann::json;

constexpr const char* kSingleFile = "model.safetensors";
constexpr const char* kIndexFile = "model.safetensors.index.json";
constexpr JsonLimits kIndexLimits{.bytes = std::size_t{64} << 20, .values = 1'000'000};

[[noreturn]] void refuse_missing(const HuggingFaceConfig& config) {
  for (const char* file : {"pytorch_model.bin", "pytorch_model.bin.index.json"})
    if (config.has_file(file))
      throw Error(fmt::format(
          "{}: weights as a PyTorch pickle cannot be loaded; write them as safetensors: python3 -c "
          "\"from transformers import AutoModelForSeq2SeqLM as M; "
          "M.from_pretrained('{}').save_pretrained('{}')\"",
          config.path(file), config.directory, config.directory));
  throw Error(fmt::format("{}: there is neither {} nor {}, the weights of the model",
                          config.directory, kSingleFile, kIndexFile));
}

/// Whether an index may name a file so: a file of the directory, which messages can show.
bool is_name_of_shard(std::string_view name) {
  return name.ends_with(".safetensors") && std::ranges::none_of(name, [](char c) {
           return static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == '/';
         });
}

/// The file of each weight.
std::map<std::string, std::string> read_index(const std::string& path) {
  const Json json = load_json(read_file(path, kIndexLimits.bytes), path, kIndexLimits);
  const auto weights = json.is_object() ? json.find("weight_map") : json.end();
  if (!json.is_object() || weights == json.end() || !weights->is_object())
    throw Error(fmt::format("{}: 'weight_map', the file of each weight, is missing", path));
  std::map<std::string, std::string> files;
  for (const auto& [name, file] : weights->items()) {
    const std::string text = file.is_string() ? file.get<std::string>() : "";
    if (!is_name_of_shard(text))
      throw Error(
          fmt::format("{}: the file of {} must be a .safetensors file of the directory, not {}",
                      path, in_quotes(name), shown(file)));
    files.emplace(name, text);
  }
  return files;
}

TensorMap read_shards(const HuggingFaceConfig& config) {
  const std::string index = config.path(kIndexFile);
  const std::map<std::string, std::string> file_of = read_index(index);
  std::set<std::string> files;
  for (const auto& [name, file] : file_of) files.insert(file);
  TensorMap weights;
  for (const std::string& file : files)
    for (auto& [name, tensor] : read_safetensors(config.path(file))) {
      const auto listed = file_of.find(name);
      if (listed == file_of.end() || listed->second != file)
        throw Error(fmt::format("{}: it has the weight {}, which {} does not list there",
                                config.path(file), in_quotes(name), kIndexFile));
      weights.emplace(name, tensor);
    }
  for (const auto& [name, file] : file_of)
    if (!weights.contains(name))
      throw Error(fmt::format("{}: the weight {}, which {} lists, is missing", config.path(file),
                              in_quotes(name), kIndexFile));
  return weights;
}

bool are_equal(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.bytes(), b.bytes(), a.size_bytes()) == 0;
}

/// Removes copies of tables of embeddings that are shared, as files converted from pickles have
/// them, and a table that no side reads.
void keep_tables_once(TensorMap& weights, const std::string& prefix) {
  const std::string shared = prefix + "shared.weight";
  const std::array<std::string, 4> tables = {shared, prefix + "decoder.embed_tokens.weight",
                                             prefix + "encoder.embed_tokens.weight",
                                             "lm_head.weight"};
  for (std::size_t i = 0; i < tables.size(); ++i)
    for (std::size_t j = i + 1; j < tables.size(); ++j) {
      const auto kept = weights.find(tables.at(i)), copy = weights.find(tables.at(j));
      if (kept != weights.end() && copy != weights.end() && are_equal(kept->second, copy->second))
        weights.erase(copy);
    }
  const auto is_stored = [&weights](const std::string& name) { return weights.contains(name); };
  if (std::all_of(tables.begin() + 1, tables.end(), is_stored)) weights.erase(shared);
}

/// Removes what checkpoints have and Transformers does not read.
void drop_unread(TensorMap& weights) {
  for (const char* name :
       {"decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",
        "model.encoder.version", "model.decoder.version", "model.encoder.embed_positions.weights",
        "model.decoder.embed_positions.weights", "model.encoder.embed_positions._float_tensor",
        "model.decoder.embed_positions._float_tensor"})
    weights.erase(name);
}

double angle_of(std::int64_t position, std::int64_t i, std::int64_t half, Sinusoids form) {
  const auto p = static_cast<double>(position), k = static_cast<double>(i);
  if (form == Sinusoids::paper) return p / std::pow(10000.0, k / static_cast<double>(half));
  const double step = std::log(10000.0) / static_cast<double>(half - 1);
  const auto frequency = static_cast<float>(std::exp(-k * step));
  return static_cast<double>(static_cast<float>(p) * frequency);
}

/// A row for each position: all sines, then all cosines.
Tensor sinusoids(std::int64_t rows, std::int64_t size, Sinusoids form) {
  Tensor table(DType::f32, {rows, size});
  auto* out = table.mutable_data<float>();
  const std::int64_t half = size / 2;
  for (std::int64_t p = 0; p < rows; ++p)
    for (std::int64_t i = 0; i < half; ++i) {
      const double angle = angle_of(p, i, half, form);
      out[p * size + i] = static_cast<float>(std::sin(angle));
      out[p * size + half + i] = static_cast<float>(std::cos(angle));
    }
  return table;
}

/// Adds the tables of positions that a checkpoint does not have. Their size is limited, since no
/// file bounds it.
void add_sinusoids(const HuggingFaceConfig& config, const BartClass& kind, TensorMap& weights) {
  constexpr std::int64_t kMaxPositions = 1 << 17, kMaxSize = 1 << 16, kMaxNumbers = 1 << 26;
  const std::int64_t positions = config.integer("max_position_embeddings").value_or(1024);
  const std::int64_t size = config.integer("d_model").value_or(1024);
  if (positions < 1 || positions > kMaxPositions || size < 4 || size > kMaxSize || size % 2 != 0)
    throw Error(fmt::format(
        "{}: 'max_position_embeddings' must be from 1 to {} and 'd_model' even and from 4 to {}, "
        "not {} and {}",
        config.path("config.json"), kMaxPositions, kMaxSize, positions, size));
  if (const std::int64_t width = weights.at(kDecoderStart).size(); width != size)
    throw Error(fmt::format("{}: 'd_model' is {}, but the table of embeddings has {} columns",
                            config.path("config.json"), size, width));
  if (positions * size > kMaxNumbers)
    throw Error(fmt::format(
        "{}: 'max_position_embeddings' times 'd_model' must be at most {}, not {} times {}",
        config.path("config.json"), kMaxNumbers, positions, size));
  const Tensor table = sinusoids(positions + kind.position_offset, size, *kind.sinusoids);
  for (const char* side : {"encoder", "decoder"})
    weights.insert_or_assign(fmt::format("model.{}.embed_positions.weight", side), table);
}

void add_decoder_start(const HuggingFaceConfig& config, const std::string& prefix,
                       TensorMap& weights) {
  const auto start = config.integer("decoder_start_token_id");
  if (!start)
    throw Error(fmt::format(
        "{}: 'decoder_start_token_id', the word that a translation begins with, is missing",
        config.path("config.json")));
  std::string table_name;
  const Tensor* table = nullptr;
  for (const std::string& name :
       {prefix + "decoder.embed_tokens.weight", prefix + "shared.weight",
        std::string("lm_head.weight"), prefix + "encoder.embed_tokens.weight"})
    if (const auto found = weights.find(name); found != weights.end() && table == nullptr) {
      table = &found->second;
      table_name = name;
    }
  if (table == nullptr)
    throw Error(fmt::format("{}: the weights have no table of embeddings, such as {}",
                            config.directory, in_quotes(prefix + "shared.weight")));
  if (table->shape().size() != 2)
    throw Error(
        fmt::format("{}: the table of embeddings {} has shape {}; it must have a row for "
                    "each word",
                    config.directory, in_quotes(table_name), shape_to_string(table->shape())));
  const std::int64_t rows = table->shape()[0], size = table->shape()[1];
  if (*start < 0 || *start >= rows)
    throw Error(
        fmt::format("{}: 'decoder_start_token_id' is {}, but the table of embeddings has {} rows",
                    config.path("config.json"), *start, rows));
  Tensor row(table->dtype(), {size});
  const std::size_t bytes = row.size_bytes();
  std::memcpy(row.mutable_bytes(), table->bytes() + static_cast<std::size_t>(*start) * bytes,
              bytes);
  weights.insert_or_assign(kDecoderStart, is_half(row.dtype()) ? row : row.to_f32());
}

}  // namespace

TensorMap read_checkpoint(const HuggingFaceConfig& config) {
  TensorMap weights;
  if (config.has_file(kSingleFile))
    weights = read_safetensors(config.path(kSingleFile));
  else if (config.has_file(kIndexFile))
    weights = read_shards(config);
  else
    refuse_missing(config);
  const BartClass* const kind = find_bart_class(config.class_name);
  const std::string prefix = kind != nullptr ? "model." : "";
  drop_unread(weights);
  add_decoder_start(config, prefix, weights);
  keep_tables_once(weights, prefix);
  if (kind != nullptr && kind->sinusoids) add_sinusoids(config, *kind, weights);
  return weights;
}

}  // namespace fuselage
