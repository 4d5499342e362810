#include "models/huggingface/config_files.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include "base/files/file.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "models/architectures/bart.h"
#include "models/architectures/t5.h"
#include "models/directory/json_object.h"
#include "models/formats/json.h"

namespace fuselage {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Files with a description of each added token have some hundred kilobytes.
constexpr JsonLimits kConfigLimits{.bytes = std::size_t{16} << 20, .values = 1'000'000};

/// Classes by `model_type`, for a config.json without `architectures`.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kClassOfType = {{
    {"bart", "BartForConditionalGeneration"},
    {"m2m_100", "M2M100ForConditionalGeneration"},
    {"marian", "MarianMTModel"},
    {"mbart", "MBartForConditionalGeneration"},
    {"mt5", "MT5ForConditionalGeneration"},
    {"t5", "T5ForConditionalGeneration"},
    {"umt5", "UMT5ForConditionalGeneration"},
}};

Json read_object(const HuggingFaceConfig& config, const std::string& file) {
  if (!config.has_file(file)) return Json::object();
  const std::string path = config.path(file);
  Json json = load_json(read_file(path, kConfigLimits.bytes), path, kConfigLimits);
  if (!json.is_object()) throw Error(fmt::format("{}: it must be a JSON object", path));
  return json;
}

std::string class_of(const Json& model) {
  const auto classes = model.find("architectures");
  if (classes != model.end() && classes->is_array() && !classes->empty() &&
      classes->front().is_string())
    return classes->front().get<std::string>();
  const auto type = model.find("model_type");
  if (type == model.end() || !type->is_string()) return "";
  auto name = type->get<std::string>();
  for (const auto& [known, class_name] : kClassOfType)
    if (known == name) return std::string(class_name);
  return name;
}

void expect_known_class(const HuggingFaceConfig& config) {
  std::vector<std::string_view> known;
  for (const BartClass& kind : bart_classes()) known.push_back(kind.name);
  for (const T5Class& kind : t5_classes()) known.push_back(kind.name);
  if (std::ranges::find(known, config.class_name) != known.end()) return;
  const auto type = config.model.find("model_type");
  throw Error(fmt::format(
      "{}: {}{} of Hugging Face's Transformers cannot be loaded; its classes that can be are {}",
      config.path("config.json"), in_quotes(config.class_name),
      type != config.model.end() && type->is_string()
          ? fmt::format(" (the family {})", in_quotes(type->get<std::string>()))
          : "",
      fmt::join(known, ", ")));
}

[[noreturn]] void refuse_setting(const HuggingFaceConfig& config, const std::string& key,
                                 std::string_view needed, const Json& value) {
  const bool is_generation = config.generation.contains(key);
  throw Error(fmt::format("{}: '{}' must be {}, not {}",
                          config.path(is_generation ? "generation_config.json" : "config.json"),
                          key, needed, shown(value)));
}

}  // namespace

std::string HuggingFaceConfig::path(const std::string& file) const {
  return (fs::path(directory) / file).string();
}

bool HuggingFaceConfig::has_file(const std::string& file) const {
  std::error_code error;
  return fs::exists(path(file), error);
}

Json HuggingFaceConfig::setting(const std::string& key) const {
  for (const Json* json : {&generation, &model})
    if (const auto found = json->find(key); found != json->end() && !found->is_null())
      return *found;
  return nullptr;
}

std::optional<std::int64_t> HuggingFaceConfig::integer(const std::string& key) const {
  const Json value = setting(key);
  if (value.is_null()) return std::nullopt;
  // So that sums of a few stay in range.
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  if (!value.is_number_integer() || std::abs(value.get<double>()) > static_cast<double>(kMost))
    refuse_setting(*this, key, fmt::format("a whole number from {} to {}", -kMost, kMost), value);
  return value.get<std::int64_t>();
}

std::optional<double> HuggingFaceConfig::number(const std::string& key) const {
  const Json value = setting(key);
  if (value.is_null()) return std::nullopt;
  if (!value.is_number()) refuse_setting(*this, key, "a number", value);
  return value.get<double>();
}

std::optional<bool> HuggingFaceConfig::flag(const std::string& key) const {
  const Json value = setting(key);
  if (value.is_null()) return std::nullopt;
  if (!value.is_boolean()) refuse_setting(*this, key, "true or false", value);
  return value.get<bool>();
}

std::vector<std::int32_t> HuggingFaceConfig::ids(const std::string& key) const {
  const Json value = setting(key);
  if (value.is_null()) return {};
  std::vector<std::int32_t> ids;
  for (const Json& item : value.is_array() ? value : Json::array({value})) {
    const auto id = word_id(item);
    if (!id) refuse_setting(*this, key, "an id of a word, or a list of ids", item);
    ids.push_back(*id);
  }
  return ids;
}

std::optional<std::int32_t> word_id(const Json& value) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMost) return std::nullopt;
  return value.get<std::int32_t>();
}

bool is_huggingface_directory(const std::string& directory) {
  const std::string path = (fs::path(directory) / "config.json").string();
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;
  try {
    const Json config = load_json(read_file(path, kConfigLimits.bytes), path, kConfigLimits);
    return config.is_object() && !config.contains("fuselage-model") &&
           (config.contains("architectures") || config.contains("model_type"));
  } catch (const Error&) {
    return false;
  }
}

HuggingFaceConfig read_huggingface_config(const std::string& directory) {
  HuggingFaceConfig config{.directory = directory};
  config.model = read_object(config, "config.json");
  config.generation = read_object(config, "generation_config.json");
  config.tokenizer = read_object(config, "tokenizer_config.json");
  config.special_tokens_map = read_object(config, "special_tokens_map.json");
  config.class_name = class_of(config.model);
  expect_known_class(config);
  return config;
}

}  // namespace fuselage
