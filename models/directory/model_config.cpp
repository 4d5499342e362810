#include "models/directory/model_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/classic_locale.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "models/decode_keys.h"
#include "models/directory/json_object.h"
#include "models/directory/text_format_json.h"

namespace fuselage {
namespace {

using Json = nlohmann::json;

constexpr int kModelVersion = 1;
constexpr std::array<std::string_view, 10> kConfigKeys = {
    "fuselage-model", "name",      "right-left", "vocabularies", "splitters",
    "text",           "shortlist", "decode",     "architecture", "options"};

/// A number or a boolean if the text is one, for readability of the file; else a string.
Json as_json(const std::string& text) {
  const ClassicLocale classic;
  const Json value = Json::parse(text, nullptr, false);
  return value.is_number() || value.is_boolean() ? value : Json(text);
}

/// Value of a key of the expected JSON type.
template <typename T>
T get(const Json& object, std::string_view key, T fallback, std::string_view kind,
      const std::string& where) {
  const auto found = object.find(key);
  if (found == object.end()) return fallback;
  try {
    return found->template get<T>();
  } catch (const Json::exception&) {
    throw Error(fmt::format("{}: '{}' must be {}, not {}", where, key, kind, shown(*found)));
  }
}

void check_version(const Json& config, const std::string& path) {
  const auto version = config.find("fuselage-model");
  if (version == config.end())
    throw Error(fmt::format("{}: 'fuselage-model', the version of the format, is missing", path));
  if (*version != kModelVersion)
    throw Error(
        fmt::format("{}: version {} of the format is not known, only {}; convert the model again",
                    path, shown(*version), kModelVersion));
}

DecodeDefaults decode_defaults(const Json& config, const std::string& path, bool ignore_unknown) {
  DecodeDefaults defaults;
  const auto decode = config.find("decode");
  if (decode == config.end()) return defaults;
  if (!decode->is_object())
    throw Error(fmt::format("{}: 'decode' must be an object of options", path));
  const std::string where = path + ": decode";
  const auto known = decode_keys();
  check_keys(*decode, known, where, ignore_unknown);
  for (const auto& [key, value] : decode->items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) continue;
    if (value.is_structured() || value.is_null())
      throw Error(fmt::format("{}: '{}' must be a single value, not {}", where, key, shown(value)));
    set_decode_default(defaults, key, value.is_string() ? value.get<std::string>() : value.dump(),
                       where);
  }
  return defaults;
}

void expect_file_name(const std::string& name, std::string_view meaning, const std::string& path) {
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos)
    throw Error(fmt::format("{}: {} {} must be a file in the model directory", path, meaning,
                            in_quotes(name)));
}

/// The file names of a list; one name stands for both sides.
std::vector<std::string> file_names(const Json& config, std::string_view key,
                                    std::string_view meaning, const std::string& path) {
  auto names = get<std::vector<std::string>>(config, key, {}, "a list of file names", path);
  for (const std::string& name : names) expect_file_name(name, meaning, path);
  if (names.size() == 1) names.push_back(names[0]);
  return names;
}

std::vector<std::string> splitter_names(const Json& config, const std::string& path) {
  auto names = file_names(config, "splitters", "splitter", path);
  if (names.size() > 2)
    throw Error(fmt::format("{}: 'splitters' must name two files, of source and target, not {}",
                            path, names.size()));
  return names;
}

/// The values of the option shortlist: a file name, which numbers or a boolean may follow.
ShortlistOptions shortlist_options(const Json& config, const std::string& path) {
  const auto found = config.find("shortlist");
  if (found == config.end()) return {};
  const std::string where = path + ": shortlist";
  if (!found->is_array() || found->empty() || !found->front().is_string())
    throw Error(fmt::format("{}: a list of a file name and its limits is needed, not {}", where,
                            shown(*found)));
  std::vector<std::string> values;
  for (const Json& value : *found) {
    if (value.is_structured() || value.is_null())
      throw Error(fmt::format("{}: a limit must be a number, not {}", where, shown(value)));
    values.push_back(value.is_string() ? value.get<std::string>() : value.dump());
  }
  expect_file_name(values.front(), "shortlist", path);
  try {
    return parse_shortlist(values);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", where, error.what()));
  }
}

/// The shortest list of values that shortlist_options reads as `shortlist`.
nlohmann::ordered_json print_shortlist(const ShortlistOptions& shortlist) {
  nlohmann::ordered_json values = {shortlist.path};
  if (!shortlist.checksum) {
    values.push_back(false);
  } else if (shortlist.limits != LexicalLimits{}) {
    values.push_back(shortlist.limits.first);
    values.push_back(shortlist.limits.best);
    if (shortlist.limits.threshold != 0) values.push_back(shortlist.limits.threshold);
  }
  return values;
}

/// The options of the architecture as JSON.
std::string architecture_options(const Json& config, const std::string& path) {
  const auto options = config.find("options");
  if (options == config.end()) return "";
  if (!options->is_object()) throw Error(fmt::format("{}: 'options' must be an object", path));
  if (!config.contains("architecture"))
    throw Error(
        fmt::format("{}: 'options' are those of an 'architecture', which is missing", path));
  return options->dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

ModelConfig parse_model_config(std::string_view text, const std::string& path,
                               bool ignore_unknown) {
  const Json config = parse_object(text, path);
  check_version(config, path);
  check_keys(config, kConfigKeys, path, ignore_unknown);
  return {.name = get<std::string>(config, "name", "", "a text", path),
          .right_left = get<bool>(config, "right-left", false, "true or false", path),
          .vocabularies = file_names(config, "vocabularies", "vocabulary", path),
          .splitters = splitter_names(config, path),
          .text = config.contains("text")
                      ? parse_text_format(config.at("text"), path + ": text", ignore_unknown)
                      : TextFormat{},
          .shortlist = shortlist_options(config, path),
          .decode = decode_defaults(config, path, ignore_unknown),
          .architecture = get<std::string>(config, "architecture", "", "a text", path),
          .options = architecture_options(config, path)};
}

std::string print_model_config(const ModelConfig& config) {
  nlohmann::ordered_json json;  // Ordered for human readers.
  json["fuselage-model"] = kModelVersion;
  json["name"] = config.name;
  json["right-left"] = config.right_left;
  if (!config.vocabularies.empty()) json["vocabularies"] = config.vocabularies;
  if (!config.splitters.empty()) json["splitters"] = config.splitters;
  if (config.text != TextFormat{}) json["text"] = print_text_format(config.text);
  if (!config.shortlist.path.empty()) json["shortlist"] = print_shortlist(config.shortlist);
  for (const std::string_view key : decode_keys())
    if (const auto text = decode_text(config.decode, key))
      json["decode"][std::string(key)] = as_json(*text);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fuselage
