#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace fuselage {

// For .cpp files only: the header shows nlohmann/json.

/// A part of a tokenizer.json, an object with a `type`, and where it is in the file: its name and
/// path for messages. Throws Error with that place for members of another type.
class JsonPart {
 public:
  /// `separator` is between the place and a key in it.
  JsonPart(const nlohmann::json& value, std::string where, std::string_view separator = ".");

  /// The member `type`.
  std::string type() const;

  /// Members; the default for a missing one or null.
  std::string text(const char* key, const std::string& otherwise = {}) const;
  bool truth(const char* key, bool otherwise) const;
  std::size_t count(const char* key, std::size_t otherwise) const;

  /// Whether there is such a member, other than null.
  bool has(const char* key) const;

  /// A member that is an object.
  JsonPart part(const char* key) const;

  /// Calls `action` with each part of a list.
  template <typename Action>
  void for_each(const char* key, Action action) const {
    const nlohmann::json& list = member(key);
    expect(list.is_array(), key, "a list");
    for (std::size_t i = 0; i < list.size(); ++i)
      action(JsonPart(list[i], place_of(key) + "[" + std::to_string(i) + "]"));
  }

  /// Throws Error that the part says something that this program does not know.
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  const nlohmann::json& member(const char* key) const;
  void expect(bool is, const char* key, std::string_view what) const;
  std::string place_of(const char* key) const { return where_ + std::string(separator_) + key; }

  const nlohmann::json& value_;
  std::string where_;
  std::string_view separator_;
};

}  // namespace fuselage
