#include "tools/commands/models/model_info.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/classic_locale.h"
#include "base/files/compression.h"
#include "base/files/file.h"
#include "base/files/yaml.h"
#include "decoding/lines/vocabulary_pair.h"
#include "decoding/resolve_options.h"
#include "fuselage/ops/structure/leaf.h"
#include "models/architectures/scores.h"
#include "models/decode_keys.h"
#include "models/formats/quantized_parts.h"
#include "text/text_splitter.h"
#include "text/vocabulary.h"

namespace fuselage {
namespace {

std::string shown(const YAML::Node& value) {
  if (value.IsScalar()) return value.Scalar();
  std::string text;
  if (value.IsSequence())
    for (const YAML::Node& element : value) text += (text.empty() ? "" : " ") + shown(element);
  return text;
}

ModelInfo::Options options_of(const Model& model) {
  ModelInfo::Options options;
  if (model.options.empty()) return options;
  const YAML::Node root = load_yaml(model.options, "the options of the architecture");
  if (!root.IsMap()) return options;
  for (const auto& item : root)
    if (std::string value = shown(item.second); !value.empty())
      options.emplace_back(item.first.Scalar(), std::move(value));
  std::sort(options.begin(), options.end());
  return options;
}

std::string vocabulary_kind(const std::string& path, const Vocabulary& vocabulary) {
  const std::string_view extension = file_extension(without_compression(path));
  if (extension == "spm" || extension == "model") return "SentencePiece";
  if (extension == "yml" || extension == "yaml") return "words (YAML)";
  if (extension != "json") return "words (text)";
  return vocabulary.splits_text() ? "tokenizer.json" : "words (JSON)";
}

std::string splitter_kind(const std::string& path) {
  return is_sentencepiece(path, read_file(path)) ? "SentencePiece" : "BPE codes";
}

void add_graph(const Model& model, ModelInfo& info) {
  const Graph& graph = model.graph;
  info.name = graph.name();
  info.is_language_model = source_texts(graph).empty();
  for (const MapId text : source_texts(graph))
    info.source_words = std::max(info.source_words, graph.domain(graph.map(text).to).size);
  info.target_words = scores_of(graph).words;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!node.is<op::Param>()) continue;
    const Type& type = graph.value(node.results[0]).type;
    if (graph.domain(type.domain).kind == DomainKind::vocabulary && type.dims.size() == 1)
      info.embeddings.push_back(
          {node.as<op::Param>().name, graph.domain(type.domain).size, type.dims[0]});
  }
}

void add_weights(const Model& model, ModelInfo& info) {
  std::map<std::pair<std::string, int>, ModelInfo::Weights> by_type;
  for (const auto& [name, tensor] : model.weights) {
    const std::string type(to_string(tensor.dtype()));
    const int bits = file_bits(tensor);
    ModelInfo::Weights& weights = by_type[{type, bits}];
    weights.type = type;
    weights.bits = bits;
    ++weights.tensors;
    weights.bytes += file_bytes(tensor);
    weights.numbers += tensor.size();
  }
  for (auto& [type, weights] : by_type) info.weights.push_back(std::move(weights));
}

void add_decode(const Model& model, ModelInfo& info) {
  const TranslatorOptions resolved_options = resolved(TranslatorOptions{}, model);
  const DecodeDefaults effective = {.beam_size = resolved_options.beam_size,
                                    .normalize = resolved_options.normalize,
                                    .word_penalty = resolved_options.word_penalty,
                                    .max_length_factor = resolved_options.max_length_factor,
                                    .max_length = resolved_options.max_length,
                                    .allow_unk = resolved_options.allow_unk,
                                    .keep_beam = resolved_options.keep_beam,
                                    .max_words = resolved_options.max_words,
                                    .min_length = resolved_options.min_length,
                                    .precision = resolved_options.compile.precision,
                                    .activations = resolved_options.compile.activations,
                                    .kv_cache = resolved_options.compile.kv_cache};
  for (const std::string_view key : decode_keys()) {
    if (const auto text = decode_text(model.decode, key))
      info.stated.emplace_back(key, *text);
    else if (const auto value = decode_text(effective, key))
      info.defaults.emplace_back(key, *value);
  }
}

std::string side_of(std::size_t at, std::size_t count) {
  if (at + 1 == count) return "target";
  return count <= 2 ? "source" : fmt::format("source {}", at + 1);
}

std::string joined(const ModelInfo::Options& options) {
  std::string text;
  for (const auto& [key, value] : options)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key, value);
  return text;
}

std::string_view or_any(std::string_view language) { return language.empty() ? "any" : language; }

std::string line(std::string_view title, std::string_view text) {
  return text.empty() ? "" : fmt::format("{:<14}{}\n", title, text);
}

}  // namespace

ModelInfo model_info(const Model& model, const std::string& path) {
  ModelInfo info{.path = path,
                 .format = model.format,
                 .architecture = model.architecture,
                 .license = model.license,
                 .source_language = model.text.source_language,
                 .target_language = model.text.target_language,
                 .placeholders = model.text.placeholders,
                 .right_left = model.right_left,
                 .options = options_of(model),
                 .shortlist = model.shortlist,
                 .notes = model.notes};
  for (const Language& language : model.text.languages) info.languages.push_back(language.code);
  add_graph(model, info);
  add_weights(model, info);
  add_decode(model, info);
  for (std::size_t i = 0; i < model.vocabularies.size(); ++i) {
    const std::string& file = model.vocabularies[i];
    const auto vocabulary = load_vocabulary(file, reading_of(model.text));
    info.vocabularies.push_back({side_of(i, model.vocabularies.size()), file,
                                 vocabulary_kind(file, *vocabulary), vocabulary->size()});
  }
  for (std::size_t i = 0; i < model.splitters.size(); ++i)
    info.splitters.push_back({side_of(i, model.splitters.size()), model.splitters[i],
                              splitter_kind(model.splitters[i]), 0});
  return info;
}

std::string print_info(const ModelInfo& info) {
  std::string text =
      line("model", info.path) + line("format", info.format) +
      line("architecture", info.architecture.empty() ? "as its graph states" : info.architecture);
  text += line("licence", info.license);
  // What is off is left to JSON.
  for (const auto& [key, value] : info.options)
    if (value != "false" && value != "0" && key != "type")
      text += fmt::format("  {} {}\n", key, value);
  if (info.right_left) text += line("direction", "right to left");
  text += line("words",
               info.is_language_model
                   ? fmt::format("{}, a language model", info.target_words)
                   : fmt::format("{} source, {} target", info.source_words, info.target_words));
  for (const ModelInfo::Table& table : info.embeddings)
    text += line("embeddings", fmt::format("{}, {} of {}", table.name, table.rows, table.width));
  std::int64_t numbers = 0;
  std::size_t tensors = 0, bytes = 0;
  for (const ModelInfo::Weights& weights : info.weights) {
    numbers += weights.numbers;
    tensors += weights.tensors;
    bytes += weights.bytes;
  }
  text += line("parameters", fmt::format("{} in {} tensors, {:.1f} MB", numbers, tensors,
                                         static_cast<double>(bytes) / 1e6));
  for (const ModelInfo::Weights& weights : info.weights)
    text +=
        fmt::format("  {} {} of {} bits in {} tensors, {:.1f} MB\n", weights.type, weights.numbers,
                    weights.bits, weights.tensors, static_cast<double>(weights.bytes) / 1e6);
  for (const ModelInfo::TextFile& file : info.vocabularies)
    text += line("vocabulary",
                 fmt::format("{}: {}, {}, {} words", file.side, file.path, file.kind, file.words));
  for (const ModelInfo::TextFile& file : info.splitters)
    text += line("splitter", fmt::format("{}: {}, {}", file.side, file.path, file.kind));
  text += line("languages", fmt::format("{}", fmt::join(info.languages, " ")));
  if (!info.source_language.empty() || !info.target_language.empty())
    text += line("translates", fmt::format("{} to {}", or_any(info.source_language),
                                           or_any(info.target_language)));
  text += line("placeholders", fmt::format("{}", fmt::join(info.placeholders, " ")));
  text += line("shortlist", info.shortlist.path);
  text += line("decoding", joined(info.stated));
  text += line("by default", joined(info.defaults));
  for (const std::string& note : info.notes) text += line("note", note);
  return text;
}

std::string print_info_json(const ModelInfo& info) {
  using Json = nlohmann::ordered_json;
  const auto object_of = [](const ModelInfo::Options& options) {
    Json object = Json::object();
    for (const auto& [key, value] : options) {
      const ClassicLocale classic;
      const Json parsed = Json::parse(value, nullptr, false);
      object[key] = parsed.is_number() || parsed.is_boolean() ? parsed : Json(value);
    }
    return object;
  };
  Json json = {{"model", info.path},
               {"format", info.format},
               {"architecture", info.architecture},
               {"graph", info.name},
               {"options", object_of(info.options)},
               {"right-left", info.right_left},
               {"source-words", info.source_words},
               {"target-words", info.target_words}};
  json["embeddings"] = Json::array();
  for (const ModelInfo::Table& table : info.embeddings)
    json["embeddings"].push_back(
        {{"name", table.name}, {"rows", table.rows}, {"width", table.width}});
  std::int64_t numbers = 0;
  json["weights"] = Json::array();
  for (const ModelInfo::Weights& weights : info.weights) {
    numbers += weights.numbers;
    json["weights"].push_back({{"type", weights.type},
                               {"bits", weights.bits},
                               {"tensors", weights.tensors},
                               {"numbers", weights.numbers},
                               {"bytes", weights.bytes}});
  }
  json["parameters"] = numbers;
  json["vocabularies"] = Json::array();
  for (const ModelInfo::TextFile& file : info.vocabularies)
    json["vocabularies"].push_back(
        {{"side", file.side}, {"path", file.path}, {"kind", file.kind}, {"words", file.words}});
  json["splitters"] = Json::array();
  for (const ModelInfo::TextFile& file : info.splitters)
    json["splitters"].push_back({{"side", file.side}, {"path", file.path}, {"kind", file.kind}});
  if (!info.languages.empty()) json["languages"] = info.languages;
  if (!info.source_language.empty()) json["source-language"] = info.source_language;
  if (!info.target_language.empty()) json["target-language"] = info.target_language;
  if (!info.placeholders.empty()) json["placeholders"] = info.placeholders;
  if (!info.license.empty()) json["license"] = info.license;
  if (!info.shortlist.path.empty()) json["shortlist"] = info.shortlist.path;
  json["decode"] = object_of(info.stated);
  json["defaults"] = object_of(info.defaults);
  json["notes"] = info.notes;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fuselage
