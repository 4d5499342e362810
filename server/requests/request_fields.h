#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/message.h"

namespace fuselage {

/// The named values that a client sent as JSON, as a form, as multipart/form-data or behind the
/// path; those of a form and behind the path count together, the latter first. All texts are valid
/// UTF-8. Members throw HttpError 400 that names the field for a value of another type.
class RequestFields {
 public:
  /// Throws HttpError for a body that is no JSON object or form, and for other types of content.
  explicit RequestFields(const HttpRequest& request);

  /// Throws HttpError 400 for a name that is not one of `known`, and for one behind the path where
  /// the body is JSON.
  void expect_only(std::span<const std::string_view> known) const;

  bool has(std::string_view name) const;
  /// Empty if it is not there.
  std::string text(std::string_view name) const;
  /// A text as a list of one.
  std::vector<std::string> texts(std::string_view name) const;
  bool is_list(std::string_view name) const;
  /// A number that may be written as a text.
  std::optional<std::int64_t> number(std::string_view name, std::int64_t least,
                                     std::int64_t most) const;
  bool flag(std::string_view name) const;

 private:
  const nlohmann::json* find(std::string_view name) const;

  nlohmann::json values_;
  std::vector<std::string> unread_;  ///< names behind the path, where the body is JSON
};

/// The names and values of application/x-www-form-urlencoded.
HttpFields parse_form(std::string_view body);

}  // namespace fuselage
