#include "models/formats/json.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "base/classic_locale.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

using Json = nlohmann::json;

/// Checks a text without building its value. (The parser's callback while it builds takes quadratic
/// time for nested objects.)
class LimitChecker : public nlohmann::json_sax<Json> {
 public:
  LimitChecker(const std::string& name, const JsonLimits& limits) : name_(name), limits_(limits) {}

  bool null() override { return count_value(); }
  bool boolean(bool) override { return count_value(); }
  bool number_integer(number_integer_t) override { return count_value(); }
  bool number_unsigned(number_unsigned_t) override { return count_value(); }
  bool number_float(number_float_t, const string_t&) override { return count_value(); }
  bool string(string_t&) override { return count_value(); }
  bool binary(binary_t&) override { return count_value(); }

  bool start_object(std::size_t) override { return begin_collection(); }
  bool end_object() override { return end_collection(); }
  bool start_array(std::size_t) override { return begin_collection(); }
  bool end_array() override { return end_collection(); }

  bool key(string_t& key) override {
    if (!keys_.back().insert(key).second)
      throw Error(fmt::format("{}: the key {} is given twice", name_, in_quotes(key)));
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception& error) override {
    if (dynamic_cast<const Json::out_of_range*>(&error) != nullptr)
      throw Error(fmt::format("{}: the number before byte {} is out of range", name_, position));
    throw Error(fmt::format("{}: invalid JSON at byte {}", name_, position));
  }

 private:
  bool count_value() {
    if (++values_ > limits_.values)
      throw Error(
          fmt::format("{}: the JSON text holds more than {} values", name_, limits_.values));
    return true;
  }

  bool begin_collection() {
    if (keys_.size() == limits_.depth)
      throw Error(fmt::format("{}: objects and lists nest deeper than {}", name_, limits_.depth));
    keys_.emplace_back();
    return count_value();
  }

  bool end_collection() {
    keys_.pop_back();
    return true;
  }

  const std::string& name_;
  const JsonLimits& limits_;
  std::size_t values_ = 0;
  std::vector<std::set<std::string>> keys_;  ///< of the open objects and lists
};

}  // namespace

Json load_json(std::string_view text, const std::string& name, const JsonLimits& limits) {
  if (text.size() > limits.bytes)
    throw Error(fmt::format("{}: the JSON text has {} bytes, at most {} are read", name,
                            text.size(), limits.bytes));
  LimitChecker checker(name, limits);
  const ClassicLocale classic;
  Json::sax_parse(text.begin(), text.end(), &checker);
  return Json::parse(text.begin(), text.end());
}

}  // namespace fuselage
