#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// The options of a model, by name: the configuration of a Marian model, the options of a model
/// directory, or those of a C++ program. Values are read by type. An architecture reads all options
/// that it knows, so that one never read is unknown.
class ModelOptions {
 public:
  ModelOptions() = default;
  /// Names and values as text; a list is written "[1, 2]".
  ModelOptions(std::initializer_list<std::pair<const std::string, std::string>> values);
  explicit ModelOptions(const std::map<std::string, std::string>& values,
                        std::string where = "options");
  /// `yaml` is a mapping; `where` names its file in messages. Throws Error for another text.
  static ModelOptions from_yaml(std::string yaml, std::string where, bool ignore_unknown = false);

  bool has(const std::string& name) const;
  std::string text(const std::string& name, const std::string& fallback = "") const;
  std::int64_t integer(const std::string& name, std::int64_t fallback) const;
  double real(const std::string& name, double fallback) const;
  bool flag(const std::string& name, bool fallback = false) const;
  /// The elements of a list; empty for an option that is not given.
  std::vector<std::string> texts(const std::string& name) const;
  std::vector<std::int64_t> integers(const std::string& name) const;

  /// All options as YAML; they count as read.
  const std::string& yaml() const;
  const std::string& where() const { return where_; }
  bool ignore_unknown() const { return ignore_unknown_; }

  /// Throws Error with the options that nothing has read, unless unknown ones are ignored.
  void expect_all_read() const;

 private:
  struct Value {
    bool is_list = false;
    std::vector<std::string> elements;
  };

  /// Reads yaml_ into values_.
  void read_values();
  const Value* find(const std::string& name) const;
  /// The only element of an option; nullptr if it is not given.
  const std::string* single(const std::string& name) const;
  [[noreturn]] void fail(const std::string& name, const std::string& value,
                         std::string_view allowed) const;

  std::string yaml_;
  std::string where_ = "options";
  bool ignore_unknown_ = false;
  std::map<std::string, Value> values_;
  mutable std::set<std::string> read_;
};

}  // namespace fuselage
