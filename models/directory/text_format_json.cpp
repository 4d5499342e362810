#include "models/directory/text_format_json.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "fuselage/base/error.h"
#include "models/directory/json_object.h"

namespace fuselage {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 17> kTextKeys = {
    "added-words",   "end",          "first-word", "forbidden",       "languages",
    "piece-offset",  "placeholders", "source-end", "source-language", "source-prefix",
    "source-suffix", "start-word",   "suppressed", "target-language", "target-prefix",
    "tasks",         "unknown"};

/// Calls `visit(key, member)` for each member that JSON has as it is.
template <typename Format, typename Visit>
void visit_plain_members(Format& format, const Visit& visit) {
  visit("end", format.end);
  visit("unknown", format.unknown);
  visit("piece-offset", format.piece_offset);
  visit("source-end", format.source_end);
  visit("source-prefix", format.source_prefix);
  visit("source-suffix", format.source_suffix);
  visit("target-prefix", format.target_prefix);
  visit("first-word", format.first_word);
  visit("start-word", format.start_word);
  visit("suppressed", format.suppressed);
  visit("forbidden", format.forbidden);
  visit("placeholders", format.placeholders);
  visit("source-language", format.source_language);
  visit("target-language", format.target_language);
}

/// The elements of a list of objects.
const Json& list_of(const Json& json, const char* key, const std::string& where) {
  static const Json empty = Json::array();
  const auto found = json.find(key);
  if (found == json.end()) return empty;
  if (!found->is_array())
    throw Error(fmt::format("{}: '{}' must be a list, not {}", where, key, shown(*found)));
  return *found;
}

template <typename T>
T member(const Json& object, const char* key, const std::string& where) {
  try {
    return object.at(key).get<T>();
  } catch (const Json::exception&) {
    throw Error(fmt::format("{}: an entry has no '{}' of the right type", where, key));
  }
}

}  // namespace

nlohmann::ordered_json print_text_format(const TextFormat& format) {
  const TextFormat otherwise;
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  nlohmann::ordered_json defaults = json;
  visit_plain_members(otherwise,
                      [&](const char* key, const auto& value) { defaults[key] = value; });
  visit_plain_members(format, [&](const char* key, const auto& value) {
    if (defaults[key] != nlohmann::ordered_json(value)) json[key] = value;
  });
  for (const AddedWord& word : format.added_words)
    json["added-words"].push_back({{"id", word.id}, {"text", word.text}});
  for (const Language& language : format.languages)
    json["languages"].push_back({{"code", language.code}, {"word", language.word}});
  for (const TaskText& task : format.tasks)
    json["tasks"].push_back(
        {{"source", task.source}, {"target", task.target}, {"text", task.text}});
  return json;
}

TextFormat parse_text_format(const Json& json, const std::string& where, bool ignore_unknown) {
  if (!json.is_object())
    throw Error(fmt::format("{} must be an object, not {}", where, shown(json)));
  check_keys(json, kTextKeys, where, ignore_unknown);
  TextFormat format;
  visit_plain_members(format, [&](const char* key, auto& value) {
    const auto found = json.find(key);
    if (found == json.end()) return;
    try {
      found->get_to(value);
    } catch (const Json::exception&) {
      throw Error(fmt::format("{}: '{}' has a value of the wrong type", where, key));
    }
  });
  for (const Json& word : list_of(json, "added-words", where))
    format.added_words.push_back({member<std::int32_t>(word, "id", where + ": added-words"),
                                  member<std::string>(word, "text", where + ": added-words")});
  for (const Json& language : list_of(json, "languages", where))
    format.languages.push_back({member<std::string>(language, "code", where + ": languages"),
                                member<std::string>(language, "word", where + ": languages")});
  for (const Json& task : list_of(json, "tasks", where))
    format.tasks.push_back({member<std::string>(task, "source", where + ": tasks"),
                            member<std::string>(task, "target", where + ": tasks"),
                            member<std::string>(task, "text", where + ": tasks")});
  return format;
}

}  // namespace fuselage
