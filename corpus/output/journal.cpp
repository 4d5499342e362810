#include "corpus/output/journal.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "fuselage.journal 1";

/// The member of an object that has the type T. Throws Error for any other.
template <typename T>
T member_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  const bool fits = found != object.end() && (std::is_same_v<T, bool>     ? found->is_boolean()
                                              : std::is_same_v<T, double> ? found->is_number()
                                              : std::is_integral_v<T> ? found->is_number_unsigned()
                                                                      : found->is_string());
  if (!fits) throw Error(fmt::format("it has no '{}' that fits", name));
  return found->get<T>();
}

}  // namespace

std::string print_journal(const Journal& journal) {
  Json facts = Json::object();
  for (const auto& [name, value] : journal.facts) facts[name] = value;
  const Json json = {{"format", kFormat},
                     {"facts", facts},
                     {"rows", journal.state.rows},
                     {"digest", journal.state.digest},
                     {"words", journal.state.words},
                     {"bytes", journal.bytes},
                     {"seconds", journal.seconds},
                     {"complete", journal.state.is_complete}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Journal parse_journal(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) throw Error("it is no JSON object");
  if (const auto format = member_of<std::string>(json, "format"); format != kFormat)
    throw Error(fmt::format("its format is '{}', but '{}' is needed", format, kFormat));
  Journal journal;
  const auto facts = json.find("facts");
  if (facts == json.end() || !facts->is_object()) throw Error("it has no 'facts' that fit");
  for (const auto& [name, value] : facts->items()) {
    if (!value.is_string()) throw Error("one of its facts is no text");
    journal.facts[name] = value.get<std::string>();
  }
  journal.state = {.rows = member_of<std::uint64_t>(json, "rows"),
                   .digest = member_of<std::uint64_t>(json, "digest"),
                   .words = member_of<std::uint64_t>(json, "words"),
                   .is_complete = member_of<bool>(json, "complete")};
  journal.bytes = member_of<std::uint64_t>(json, "bytes");
  journal.seconds = member_of<double>(json, "seconds");
  return journal;
}

void expect_same_facts(const JobFacts& before, const JobFacts& now) {
  const auto value = [](const JobFacts& facts, const std::string& name) {
    const auto found = facts.find(name);
    return found == facts.end() ? std::string("not given") : fmt::format("'{}'", found->second);
  };
  JobFacts names = before;
  names.insert(now.begin(), now.end());
  for (const auto& [name, unused] : names)
    if (value(before, name) != value(now, name))
      throw Error(fmt::format("{} was {} at its first start, but now it is {}", name,
                              value(before, name), value(now, name)));
}

}  // namespace fuselage
