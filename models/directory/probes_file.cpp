#include "models/directory/probes_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "fuselage/base/error.h"
#include "models/directory/json_object.h"

namespace fuselage {
namespace {

using Json = nlohmann::json;

constexpr int kProbesVersion = 1;
constexpr std::array<std::string_view, 3> kFileKeys = {"fuselage-probes", "rounded", "probes"};
constexpr std::array<std::string_view, 4> kProbeKeys = {"line", "words", "scores", "text"};

const Json& member(const Json& object, std::string_view key, const std::string& where) {
  const auto found = object.find(key);
  if (found == object.end()) throw Error(fmt::format("{}: '{}' is missing", where, key));
  return *found;
}

const Json& list(const Json& object, std::string_view key, const std::string& where) {
  const Json& value = member(object, key, where);
  if (!value.is_array())
    throw Error(fmt::format("{}: '{}' must be a list, not {}", where, key, shown(value)));
  return value;
}

bool flag(const Json& object, std::string_view key, const std::string& where) {
  const Json& value = member(object, key, where);
  if (!value.is_boolean())
    throw Error(fmt::format("{}: '{}' must be true or false, not {}", where, key, shown(value)));
  return value.get<bool>();
}

std::string string(const Json& object, std::string_view key, const std::string& where) {
  const Json& value = member(object, key, where);
  if (!value.is_string())
    throw Error(fmt::format("{}: '{}' must be a text, not {}", where, key, shown(value)));
  return value.get<std::string>();
}

/// A text in JSON. Invalid UTF-8 becomes U+FFFD.
std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::int32_t word(const Json& value, const std::string& where) {
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() <= std::numeric_limits<std::int32_t>::max())
    return value.get<std::int32_t>();
  throw Error(fmt::format("{}: {} is no id of a word, which is 0 or more", where, shown(value)));
}

float score(const Json& value, const std::string& where) {
  if (value.is_number())
    if (const auto number = static_cast<float>(value.get<double>()); std::isfinite(number))
      return number;
  throw Error(fmt::format("{}: {} is no log-probability", where, shown(value)));
}

Probe parse_probe(const Json& json, const std::string& where, bool ignore_unknown) {
  if (!json.is_object())
    throw Error(fmt::format("{}: this must be an object, not {}", where, shown(json)));
  check_keys(json, kProbeKeys, where, ignore_unknown);
  Probe probe{.line = string(json, "line", where), .text = string(json, "text", where)};
  for (const Json& value : list(json, "words", where)) probe.words.push_back(word(value, where));
  for (const Json& value : list(json, "scores", where)) probe.scores.push_back(score(value, where));
  if (probe.words.empty() || probe.words.size() != probe.scores.size())
    throw Error(
        fmt::format("{}: it has {} words and {} scores; each word needs a score, and a "
                    "probe a word",
                    where, probe.words.size(), probe.scores.size()));
  return probe;
}

}  // namespace

Probes parse_probes(std::string_view text, const std::string& path, bool ignore_unknown) {
  const Json json = parse_object(text, path);
  if (const Json& version = member(json, "fuselage-probes", path); version != kProbesVersion)
    throw Error(
        fmt::format("{}: version {} of the format is not known, only {}; convert the model again",
                    path, shown(version), kProbesVersion));
  check_keys(json, kFileKeys, path, ignore_unknown);
  Probes probes{.rounded = flag(json, "rounded", path)};
  for (const Json& probe : list(json, "probes", path))
    probes.lines.push_back(parse_probe(
        probe, fmt::format("{}: probe {}", path, probes.lines.size() + 1), ignore_unknown));
  return probes;
}

std::string print_probes(const Probes& probes) {
  std::string text = fmt::format("{{\n\"fuselage-probes\": {},\n\"rounded\": {},\n\"probes\": [",
                                 kProbesVersion, probes.rounded);
  std::string_view before = "\n";
  for (const Probe& probe : probes.lines) {
    text += fmt::format("{}{{\"line\": {}, \"words\": [{}], \"scores\": [{}], \"text\": {}}}",
                        before, quoted(probe.line), fmt::join(probe.words, ", "),
                        fmt::join(probe.scores, ", "), quoted(probe.text));
    before = ",\n";
  }
  return text + "\n]\n}\n";
}

}  // namespace fuselage
