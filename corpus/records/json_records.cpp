#include "corpus/records/json_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "text/split.h"

namespace fuselage {
namespace {

/// Reads an object for the value of one of its keys. Only that value is kept.
class FieldFinder : public nlohmann::json_sax<nlohmann::json> {
 public:
  FieldFinder(std::string_view field, std::string_view added) : field_(field), added_(added) {}

  bool null() override { return value("null"); }
  bool boolean(bool) override { return value("a truth value"); }
  bool number_integer(number_integer_t) override { return value("a number"); }
  bool number_unsigned(number_unsigned_t) override { return value("a number"); }
  bool number_float(number_float_t, const string_t&) override { return value("a number"); }
  bool binary(binary_t&) override { return value("binary data"); }
  bool string(string_t& value_read) override {
    if (is_field_) text = std::move(value_read);
    return value("a text");
  }
  bool start_object(std::size_t) override {
    value("an object");
    ++depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    value("a list");
    ++depth_;
    return true;
  }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool key(string_t& name) override {
    if (depth_ != 1) return true;
    is_field_ = name == field_;
    if (is_field_ && kind) throw Error(fmt::format("the object has {} twice", in_quotes(field_)));
    if (name == added_)
      throw Error(
          fmt::format("the object has a field {} already; give the translation another name",
                      in_quotes(added_)));
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception&) override {
    throw Error(fmt::format("the line is no valid JSON at byte {}", position));
  }

  std::string_view top;                  ///< kind of the value as a whole
  std::optional<std::string_view> kind;  ///< of the field's value; nullopt: there is no such field
  std::string text;                      ///< the field's value if it is a text

 private:
  bool value(std::string_view what) {
    if (depth_ == 0) top = what;
    if (std::exchange(is_field_, false)) kind = what;
    return true;
  }
  bool leave() {
    --depth_;
    return true;
  }

  std::string_view field_, added_;
  std::size_t depth_ = 0;
  bool is_field_ = false;  ///< the next value is the field's
};

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// The object, which is not empty, with one more field; `value` is JSON.
std::string with_member(std::string_view row, const std::string& name, std::string_view value) {
  const std::size_t end = row.rfind('}');
  return fmt::format("{},{}:{}{}", row.substr(0, end), quoted(name), value, row.substr(end));
}

/// A text as lines with a letter or any other sign, and the text with their translations.
class TextLines {
 public:
  explicit TextLines(std::string text) : text_(std::move(text)) {
    for (std::size_t begin = 0; begin <= text_.size();) {
      const std::size_t end = std::min(text_.find('\n', begin), text_.size());
      const std::string_view line =
          without_carriage_return(std::string_view(text_).substr(begin, end - begin));
      if (line.find_first_not_of(" \t") != std::string_view::npos)
        spans_.push_back({begin, line.size()});
      begin = end + 1;
    }
  }

  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const Span& span : spans_) lines.push_back(text_.substr(span.begin, span.size));
    return lines;
  }

  std::string joined(std::span<const Translation> translations) const {
    std::string result;
    std::size_t at = 0;
    for (std::size_t i = 0; i < spans_.size(); ++i) {
      result.append(text_, at, spans_[i].begin - at).append(translations[i].text());
      at = spans_[i].begin + spans_[i].size;
    }
    return result.append(text_, at);
  }

 private:
  struct Span {
    std::size_t begin, size;
  };
  std::string text_;
  std::vector<Span> spans_;
};

}  // namespace

JsonRecords::JsonRecords(std::string field, std::string added, ReadPage read_page)
    : field_(std::move(field)), added_(std::move(added)), read_page_(std::move(read_page)) {
  if (field_ == added_)
    throw Error(
        fmt::format("the translation of the field {} cannot have the same name; give it another",
                    in_quotes(field_)));
}

Record JsonRecords::read(std::string row, std::size_t) const {
  // The parser takes NUL for the end of its input.
  if (const std::size_t at = row.find('\0'); at != std::string::npos)
    throw Error(fmt::format("the line is no valid JSON at byte {}", at + 1));
  FieldFinder found(field_, added_);
  nlohmann::json::sax_parse(row, &found);
  if (found.top != "an object")
    throw Error(fmt::format("the line is {}, but an object is needed", found.top));
  if (!found.kind)
    throw Error(
        fmt::format("the object has no field {}, which is to be translated", in_quotes(field_)));
  if (found.kind == "null") return untranslated_row(with_member(row, added_, "null"));
  if (found.kind != "a text")
    throw Error(fmt::format("the field {} is {}, but a text is translated", in_quotes(field_),
                            *found.kind));
  if (read_page_) return record_of_page(std::move(row), std::move(found.text));
  TextLines text(std::move(found.text));
  Record record{.lines = text.lines(), .joined = {}};
  record.joined = [this, row = std::move(row),
                   text = std::move(text)](std::span<const Translation> translations) {
    return with_member(row, added_, quoted(text.joined(translations))) + '\n';
  };
  return record;
}

Record JsonRecords::record_of_page(std::string row, std::string text) const {
  std::shared_ptr<const Page> page = read_page_(std::move(text));
  Record record{.lines = page->sentences(), .joined = {}};
  record.joined = [this, row = std::move(row), page](std::span<const Translation> translations) {
    std::vector<TranslatedSentence> sentences;
    for (const Translation& translation : translations)
      sentences.push_back({.text = translation.text(), .alignment = {}});
    return with_member(row, added_, quoted(page->joined(sentences))) + '\n';
  };
  return record;
}

}  // namespace fuselage
