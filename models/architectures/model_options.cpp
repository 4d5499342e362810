#include "fuselage/models/architectures/model_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <utility>

#include "base/files/yaml.h"
#include "base/numbers/from_chars.h"
#include "base/numbers/truth.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

std::string yaml_of(const std::map<std::string, std::string>& values) {
  YAML::Emitter out;
  out << YAML::BeginMap;
  for (const auto& [name, value] : values) {
    out << YAML::Key << YAML::DoubleQuoted << name << YAML::Value;
    if (value.starts_with('['))
      out << YAML::Flow << load_yaml(value, name);
    else
      out << YAML::DoubleQuoted << value;
  }
  out << YAML::EndMap;
  return out.c_str();
}

template <typename T>
bool parse(const std::string& text, T& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

}  // namespace

ModelOptions ModelOptions::from_yaml(std::string yaml, std::string where, bool ignore_unknown) {
  ModelOptions options;
  options.yaml_ = std::move(yaml);
  options.where_ = std::move(where);
  options.ignore_unknown_ = ignore_unknown;
  options.read_values();
  return options;
}

void ModelOptions::read_values() {
  const YAML::Node root = load_yaml(yaml_, where_ + ": the model's configuration");
  if (root.IsNull()) return;
  if (!root.IsMap())
    throw Error(
        fmt::format("{}: the model's configuration is not a mapping of options to values", where_));
  for (const auto& item : root) {
    Value value{.is_list = !item.second.IsScalar() && !item.second.IsNull(), .elements = {}};
    if (item.second.IsScalar()) value.elements.push_back(item.second.Scalar());
    if (item.second.IsNull()) value.elements.emplace_back();
    if (item.second.IsSequence())
      for (const YAML::Node& element : item.second)
        value.elements.push_back(element.IsScalar() ? element.Scalar() : "");
    values_.emplace(item.first.Scalar(), std::move(value));
  }
}

ModelOptions::ModelOptions(std::initializer_list<std::pair<const std::string, std::string>> values)
    : ModelOptions(std::map<std::string, std::string>(values)) {}

ModelOptions::ModelOptions(const std::map<std::string, std::string>& values, std::string where)
    : ModelOptions(from_yaml(yaml_of(values), std::move(where))) {}

const ModelOptions::Value* ModelOptions::find(const std::string& name) const {
  read_.insert(name);
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

const std::string* ModelOptions::single(const std::string& name) const {
  const Value* value = find(name);
  if (value && value->is_list)
    fail(name, fmt::format("{}", fmt::join(value->elements, " ")), "a single value");
  return value ? value->elements.data() : nullptr;
}

void ModelOptions::fail(const std::string& name, const std::string& value,
                        std::string_view allowed) const {
  throw Error(
      fmt::format("{}: option {} is {}; it must be {}", where_, name, in_quotes(value), allowed));
}

bool ModelOptions::has(const std::string& name) const { return find(name) != nullptr; }

std::string ModelOptions::text(const std::string& name, const std::string& fallback) const {
  const std::string* value = single(name);
  return value ? *value : fallback;
}

std::int64_t ModelOptions::integer(const std::string& name, std::int64_t fallback) const {
  const std::string* value = single(name);
  std::int64_t number = fallback;
  if (value && !parse(*value, number)) fail(name, *value, "a whole number");
  return number;
}

double ModelOptions::real(const std::string& name, double fallback) const {
  const std::string* value = single(name);
  double number = fallback;
  if (value && !parse(*value, number)) fail(name, *value, "a number");
  return number;
}

bool ModelOptions::flag(const std::string& name, bool fallback) const {
  const std::string* value = single(name);
  if (!value) return fallback;
  const std::optional<bool> truth = parse_truth(*value);
  if (!truth) fail(name, *value, "true or false");
  return *truth;
}

std::vector<std::string> ModelOptions::texts(const std::string& name) const {
  const Value* value = find(name);
  if (!value) return {};
  if (!value->is_list && value->elements[0].empty()) return {};
  if (!value->is_list) fail(name, value->elements[0], "a list");
  return value->elements;
}

std::vector<std::int64_t> ModelOptions::integers(const std::string& name) const {
  std::vector<std::int64_t> numbers;
  for (const std::string& text : texts(name))
    if (!parse(text, numbers.emplace_back())) fail(name, text, "a list of whole numbers");
  return numbers;
}

const std::string& ModelOptions::yaml() const {
  for (const auto& [name, value] : values_) read_.insert(name);
  return yaml_;
}

void ModelOptions::expect_all_read() const {
  if (ignore_unknown_) return;
  const std::vector<std::string_view> known(read_.begin(), read_.end());
  for (const auto& [name, value] : values_)
    if (!read_.contains(name))
      throw Error(fmt::format("{}: unknown option {} of the model's architecture{}", where_,
                              in_quotes(name), did_you_mean(name, known)));
}

}  // namespace fuselage
