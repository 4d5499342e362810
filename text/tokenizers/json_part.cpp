#include "text/tokenizers/json_part.h"

#include <fmt/format.h>

#include <utility>

#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

constexpr std::size_t kMaxCount = 10'000'000;

}  // namespace

JsonPart::JsonPart(const nlohmann::json& value, std::string where, std::string_view separator)
    : value_(value), where_(std::move(where)), separator_(separator) {
  if (!value_.is_object()) throw Error(fmt::format("{} is not an object", where_));
}

const nlohmann::json& JsonPart::member(const char* key) const {
  static const nlohmann::json null;
  const auto found = value_.find(key);
  return found == value_.end() ? null : *found;
}

bool JsonPart::has(const char* key) const { return !member(key).is_null(); }

void JsonPart::expect(bool is, const char* key, std::string_view what) const {
  if (!is) throw Error(fmt::format("{}: {} is missing or not {}", where_, in_quotes(key), what));
}

std::string JsonPart::type() const {
  expect(member("type").is_string(), "type", "a text");
  return member("type").get<std::string>();
}

std::string JsonPart::text(const char* key, const std::string& otherwise) const {
  if (!has(key)) return otherwise;
  expect(member(key).is_string(), key, "a text");
  return member(key).get<std::string>();
}

bool JsonPart::truth(const char* key, bool otherwise) const {
  if (!has(key)) return otherwise;
  expect(member(key).is_boolean(), key, "true or false");
  return member(key).get<bool>();
}

std::size_t JsonPart::count(const char* key, std::size_t otherwise) const {
  if (!has(key)) return otherwise;
  const nlohmann::json& value = member(key);
  expect(value.is_number_unsigned() && value.get<std::uint64_t>() <= kMaxCount, key,
         "a whole number up to 10,000,000");
  return value.get<std::size_t>();
}

JsonPart JsonPart::part(const char* key) const { return {member(key), place_of(key)}; }

void JsonPart::refuse(const std::string& what) const {
  throw Error(fmt::format("{}: {}", where_, what));
}

}  // namespace fuselage
