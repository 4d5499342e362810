#include "server/requests/request_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/classic_locale.h"
#include "base/suggest.h"
#include "text/utf8.h"

namespace fuselage {
namespace {

/// An object with lists is 2 deep.
constexpr int kMaxDepth = 8;

[[noreturn]] void refuse_field(std::string_view name, std::string_view wanted) {
  throw HttpError(400, fmt::format("Invalid request: {} must be {}", in_quotes(name), wanted));
}

nlohmann::json parse_json(const std::string& body) {
  const ClassicLocale classic;
  const auto limit_depth = [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > kMaxDepth) throw HttpError(400, "Invalid request: the JSON is nested too deeply");
    return true;
  };
  nlohmann::json json = nlohmann::json::parse(body, limit_depth, /*allow_exceptions=*/false);
  if (json.is_discarded())
    throw HttpError(400, "Invalid request: the body is not valid JSON in UTF-8");
  if (!json.is_object()) throw HttpError(400, "Invalid request: the body is not a JSON object");
  return json;
}

/// Forms have a field once for each element of a list.
nlohmann::json values_of_form(const HttpFields& form) {
  nlohmann::json values = nlohmann::json::object();
  for (const auto& [name, value] : form) {
    if (!is_valid_utf8(name) || !is_valid_utf8(value))
      throw HttpError(400, "Invalid request: the form is not valid UTF-8");
    if (!values.contains(name))
      values[name] = value;
    else if (values[name].is_array())
      values[name].push_back(value);
    else
      values[name] = {values[name], value};
  }
  return values;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char small = static_cast<char>(c | 0x20);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
    if (low >= 0) {
      plain += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      plain += text[i] == '+' ? ' ' : text[i];
    }
  }
  return plain;
}

constexpr std::string_view kForm = "application/x-www-form-urlencoded";

/// Clients such as curl call any body a form, but a form would have "%7B" in the place of "{".
bool is_json_type(const HttpRequest& request) {
  const std::string& type = request.content_type;
  if (type == "application/json" || type.ends_with("+json")) return true;
  const std::size_t first = request.body.find_first_not_of(" \t\r\n");
  return (type.empty() || type == "text/plain" || type == kForm) && first != std::string::npos &&
         request.body[first] == '{';
}

}  // namespace

HttpFields parse_form(std::string_view body) {
  HttpFields form;
  while (!body.empty()) {
    const std::string_view pair = body.substr(0, body.find('&'));
    body.remove_prefix(std::min(body.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    form.emplace_back(decoded(pair.substr(0, equals)),
                      decoded(pair.substr(std::min(equals + 1, pair.size()))));
  }
  return form;
}

RequestFields::RequestFields(const HttpRequest& request) {
  if (request.method == "GET" || request.method == "HEAD") {
    values_ = values_of_form(request.query);
    return;
  }
  if (is_json_type(request)) {
    values_ = parse_json(request.body);
    for (const auto& [name, value] : request.query) unread_.push_back(name);
    return;
  }
  if (request.content_type == kForm)
    values_ = values_of_form(parse_form(request.body));
  else if (request.content_type == "multipart/form-data" || request.body.empty())
    values_ = values_of_form(request.parts);
  else
    throw HttpError(415, fmt::format("Invalid request: the content type is {}; send "
                                     "application/json or a form",
                                     in_quotes(request.content_type)));
  // As Flask's request.values, which LibreTranslate reads.
  values_.update(values_of_form(request.query));
}

const nlohmann::json* RequestFields::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() || found->is_null() ? nullptr : &*found;
}

void RequestFields::expect_only(std::span<const std::string_view> known) const {
  if (!unread_.empty())
    throw HttpError(400, fmt::format("Invalid request: {} is behind the path, but the body is "
                                     "JSON; put it into that",
                                     in_quotes(unread_.front())));
  for (const auto& [name, value] : values_.items())
    if (std::ranges::find(known, name) == known.end())
      throw HttpError(400, fmt::format("Invalid request: there is no parameter {}{}",
                                       in_quotes(name), did_you_mean(name, known)));
}

bool RequestFields::has(std::string_view name) const { return find(name) != nullptr; }

bool RequestFields::is_list(std::string_view name) const {
  const nlohmann::json* value = find(name);
  return value != nullptr && value->is_array();
}

std::string RequestFields::text(std::string_view name) const {
  const nlohmann::json* value = find(name);
  if (value == nullptr) return "";
  if (!value->is_string()) refuse_field(name, "a text");
  return value->get<std::string>();
}

std::vector<std::string> RequestFields::texts(std::string_view name) const {
  if (!is_list(name)) return {text(name)};
  std::vector<std::string> all;
  for (const nlohmann::json& element : *find(name)) {
    if (!element.is_string()) refuse_field(name, "a text or a list of texts");
    all.push_back(element.get<std::string>());
  }
  return all;
}

std::optional<std::int64_t> RequestFields::number(std::string_view name, std::int64_t least,
                                                  std::int64_t most) const {
  const nlohmann::json* value = find(name);
  if (value == nullptr) return std::nullopt;
  const std::string wanted = fmt::format("a whole number from {} to {}", least, most);
  std::int64_t number = 0;
  if (value->is_number_unsigned()) {
    // Larger ones are no std::int64_t.
    const auto large = value->get<std::uint64_t>();
    if (large > static_cast<std::uint64_t>(most)) refuse_field(name, wanted);
    number = static_cast<std::int64_t>(large);
  } else if (value->is_number_integer()) {
    number = value->get<std::int64_t>();
  } else if (value->is_string()) {
    const auto& digits = value->get_ref<const std::string&>();
    if (digits.empty()) return std::nullopt;
    const char* const end = digits.data() + digits.size();
    if (const auto [at, error] = std::from_chars(digits.data(), end, number);
        error != std::errc{} || at != end)
      refuse_field(name, wanted);
  } else {
    refuse_field(name, wanted);
  }
  if (number < least || number > most) refuse_field(name, wanted);
  return number;
}

bool RequestFields::flag(std::string_view name) const {
  const nlohmann::json* value = find(name);
  if (value == nullptr) return false;
  if (value->is_boolean()) return value->get<bool>();
  const std::string word = value->is_string() ? value->get<std::string>() : "?";
  if (word == "true" || word == "1") return true;
  if (word != "false" && word != "0" && !word.empty()) refuse_field(name, "true or false");
  return false;
}

}  // namespace fuselage
