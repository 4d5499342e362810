#include "text/words/word_list.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>

#include "base/classic_locale.h"
#include "base/files/yaml_text.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "text/lines.h"
#include "text/words/flat_mapping.h"

namespace fuselage {
namespace {

constexpr std::int64_t kLargestId = 10'000'000;

/// Collects the entries of a mapping, key by key.
class MappingBuilder {
 public:
  explicit MappingBuilder(const std::string& name) : name_(name) {}

  void add(std::string word, std::int64_t id) {
    if (id < 0 || id > kLargestId)
      throw Error(fmt::format("{}: the word {} has the id {}; ids are 0 to {}", name_,
                              in_quotes(word), id, kLargestId));
    entries_.push_back({static_cast<WordId>(id), std::move(word)});
  }

  [[noreturn]] void refuse_value(std::string_view word, std::string_view value) const {
    throw Error(fmt::format(
        "{}: the word {} has the value {}; its id, a whole number from 0 to {}, is needed", name_,
        in_quotes(word), in_quotes(value), kLargestId));
  }

  [[noreturn]] void refuse_entry(std::int64_t id, std::string_view value) const {
    throw Error(fmt::format("{}: entry {} of the list is {}; a word is needed", name_, id,
                            in_quotes(value)));
  }

  [[noreturn]] void refuse_shape() const {
    throw Error(fmt::format("{}: the vocabulary is not a mapping of words to ids", name_));
  }

  const std::string& name() const { return name_; }
  std::vector<WordEntry> take() { return std::move(entries_); }

 private:
  const std::string& name_;
  std::vector<WordEntry> entries_;
};

/// Handles the parser's events of a flat YAML mapping. (A tree of nodes would lose the spelling of
/// null keys and take several times as long.)
class YamlHandler : public YAML::EventHandler {
 public:
  YamlHandler(std::string_view text, MappingBuilder& builder)
      : text_(text),
        builder_(builder),
        has_escapes_(text.find("\\_") != std::string_view::npos ||
                     text.find("\\N") != std::string_view::npos) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (std::exchange(started_, true)) fail(mark, "a second document begins");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    if (!in_mapping_) return;
    if (key_) builder_.refuse_value(*key_, spelling_of_null(mark));
    key_ = spelling_of_null(mark);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { fail(mark, "an alias stands"); }

  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string& value) override {
    if (!in_mapping_) builder_.refuse_shape();
    if (!key_) {
      key_ = has_escapes_ ? with_escaped_characters(value) : value;
      return;
    }
    std::int64_t id = 0;
    const char* const end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, id);
    if (error != std::errc() || stop != end) builder_.refuse_value(*key_, value);
    builder_.add(*std::move(key_), id);
    key_.reset();
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    refuse_collection(mark);
  }
  void OnSequenceEnd() override {}

  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    if (std::exchange(in_mapping_, true)) refuse_collection(mark);
  }
  void OnMapEnd() override {}

 private:
  [[noreturn]] void fail(const YAML::Mark& mark, std::string_view what) const {
    throw Error(fmt::format("{}: line {}: {} where a word and its id are needed", builder_.name(),
                            mark.line + 1, what));
  }

  [[noreturn]] void refuse_collection(const YAML::Mark& mark) const {
    if (!in_mapping_) builder_.refuse_shape();
    fail(mark, "a list or mapping stands");
  }

  std::string spelling_of_null(const YAML::Mark& mark) const {
    const auto at = static_cast<std::size_t>(std::max(mark.pos, 0));
    if (at >= text_.size()) return "";
    for (const std::string_view spelling : {"~", "null", "Null", "NULL"})
      if (text_.substr(at, spelling.size()) == spelling) return std::string(spelling);
    return "";
  }

  std::string_view text_;
  MappingBuilder& builder_;
  bool has_escapes_;  ///< that yaml-cpp gets wrong
  bool started_ = false;
  bool in_mapping_ = false;
  std::optional<std::string> key_;
};

/// Handles the parser's events of a flat JSON object, or of a list of words by id. Returning false
/// stops the parser.
class JsonHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit JsonHandler(MappingBuilder& builder) : builder_(builder) {}

  bool null() override { return refuse("null"); }
  bool boolean(bool value) override { return refuse(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return accept(value); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(kLargestId)) return refuse(std::to_string(value));
    return accept(static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t, const string_t& text) override { return refuse(text); }
  bool string(string_t& text) override {
    if (!in_list_) return refuse(text);
    builder_.add(text, next_id_++);
    return true;
  }
  bool binary(binary_t&) override { return refuse("binary"); }
  bool start_object(std::size_t) override {
    return in_list_ || std::exchange(in_object_, true) ? refuse("{…}") : true;
  }
  bool key(string_t& text) override {
    key_ = text;
    return true;
  }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override {
    if (in_object_ || in_list_) return refuse("[…]");
    return in_list_ = true;
  }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception&) override {
    error_position_ = position;
    return false;
  }

  /// Byte of the first syntax error, counted from 1.
  std::size_t error_position() const { return error_position_; }

 private:
  bool refuse(std::string_view value) {
    if (in_list_) builder_.refuse_entry(next_id_, value);
    if (!in_object_) builder_.refuse_shape();
    builder_.refuse_value(key_, value);
  }

  bool accept(std::int64_t id) {
    if (in_list_) builder_.refuse_entry(next_id_, std::to_string(id));
    if (!in_object_) builder_.refuse_shape();
    builder_.add(key_, id);
    return true;
  }

  MappingBuilder& builder_;
  bool in_object_ = false;
  bool in_list_ = false;
  std::int64_t next_id_ = 0;  ///< of a list
  std::string key_;
  std::size_t error_position_ = 0;
};

std::vector<WordEntry> parse_yaml(std::string_view text, const std::string& name) {
  MappingBuilder builder(name);
  YamlHandler handler(text, builder);
  std::istringstream stream{without_version_directive(std::string(text))};
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(handler)) {
    }
  } catch (const YAML::Exception& error) {
    throw Error(fmt::format("{}: line {}: not valid YAML: {}", name, error.mark.line + 1,
                            in_quotes(error.msg)));
  }
  return builder.take();
}

/// Reads strict JSON, or else YAML in braces. JSON is not a subset of yaml-cpp's YAML: surrogate
/// pairs (\ud83d\ude00) are an error there.
std::vector<WordEntry> parse_braces(std::string_view text, const std::string& name) {
  MappingBuilder builder(name);
  JsonHandler handler(builder);
  const ClassicLocale classic;
  if (nlohmann::json::sax_parse(text.begin(), text.end(), &handler)) return builder.take();
  try {
    return parse_yaml(text, name);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: not valid JSON at byte {}; as YAML: {}", name,
                            handler.error_position(), error.what()));
  }
}

}  // namespace

std::vector<WordEntry> parse_word_mapping(std::string_view bytes, const std::string& name) {
  const std::string_view text = without_byte_order_mark(bytes);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool braces = first != std::string_view::npos && text[first] == '{';
  if (braces) return parse_braces(text, name);
  if (auto entries = parse_flat_mapping(text, kLargestId)) return *std::move(entries);
  return parse_yaml(text, name);
}

bool is_word_list(std::string_view bytes) {
  const std::string_view text = without_byte_order_mark(bytes);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '[';
}

std::vector<WordEntry> parse_word_list(std::string_view bytes, const std::string& name) {
  const std::string_view text = without_byte_order_mark(bytes);
  MappingBuilder builder(name);
  JsonHandler handler(builder);
  const ClassicLocale classic;
  if (nlohmann::json::sax_parse(text.begin(), text.end(), &handler)) return builder.take();
  throw Error(fmt::format("{}: not valid JSON at byte {}", name, handler.error_position()));
}

std::vector<WordEntry> parse_word_lines(std::string_view bytes, const std::string& name) {
  std::vector<WordEntry> entries;
  for_each_line(bytes, [&](std::string_view word, std::size_t number) {
    if (word.empty())
      throw Error(fmt::format("{}: line {} is empty; each line is one word", name, number));
    const auto id = static_cast<std::int64_t>(entries.size());
    if (id > kLargestId)
      throw Error(fmt::format("{}: more than {} lines; is this a vocabulary?", name, kLargestId));
    entries.push_back({static_cast<WordId>(id), std::string(word)});
  });
  return entries;
}

}  // namespace fuselage
