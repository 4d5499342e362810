#include "text/tokenizers/tokenizer_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/classic_locale.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "text/lines.h"
#include "text/tokenizers/json_part.h"
#include "text/tokenizers/rounded_number.h"
#include "text/tokenizers/vocabulary.h"

namespace fuselage {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kLargestPieceId = 10'000'000;
constexpr std::size_t kMaxMerges = 10'000'000;
constexpr std::size_t kMaxBytesOfPiece = 2048;
constexpr std::size_t kMaxValues = 2'000'000;
constexpr std::size_t kMaxDepth = 32;

/// Finds the members by which a file is recognized. Returning false stops the parser.
class ShapeHandler : public nlohmann::json_sax<Json> {
 public:
  bool is_tokenizer() const { return has_model_ && has_added_tokens_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return number(); }
  bool number_unsigned(number_unsigned_t) override { return number(); }
  bool number_float(number_float_t, const string_t&) override { return number(); }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool key(string_t& key) override {
    if (depth_ == 1) key_ = key;
    return true;
  }
  bool start_object(std::size_t) override {
    has_model_ = has_model_ || (depth_ == 1 && key_ == "model");
    return begin();
  }
  bool end_object() override { return end(); }
  bool start_array(std::size_t) override {
    has_added_tokens_ = has_added_tokens_ || (depth_ == 1 && key_ == "added_tokens");
    return depth_ > 0 && begin();
  }
  bool end_array() override { return end(); }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override {
    return false;
  }

 private:
  /// A word map's ids are at the first level, where this file has no numbers.
  bool number() const { return depth_ > 1; }

  bool begin() {
    ++depth_;
    return !is_tokenizer();
  }

  bool end() {
    --depth_;
    return true;
  }

  std::size_t depth_ = 0;
  std::string key_;
  bool has_model_ = false, has_added_tokens_ = false;
};

/// Builds a value from the parser's events.
class ValueBuilder {
 public:
  /// `root` is the first value.
  explicit ValueBuilder(Json& root) : root_(root) {}

  void key(std::string key) { key_ = std::move(key); }

  void add(Json value) { place(std::move(value)); }

  void begin(Json collection) { open_.push_back(&place(std::move(collection))); }

  void end() { open_.pop_back(); }

 private:
  Json& place(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    Json& parent = *open_.back();
    if (parent.is_array()) return parent.emplace_back(std::move(value));
    const auto [member, is_new] = parent.emplace(key_, std::move(value));
    if (!is_new) throw Error(fmt::format("the key {} is given twice", in_quotes(key_)));
    return *member;
  }

  Json& root_;
  std::string key_;
  std::vector<Json*> open_;
};

/// Reads the large lists of the model as they come, and builds a value of everything else that
/// counts.
class TokenizerHandler : public nlohmann::json_sax<Json> {
 public:
  explicit TokenizerHandler(TokenizerFile& file) : file_(file), builder_(file.steps) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override {
    if (part_ == Part::vocab) return vocab_number(static_cast<double>(value), value);
    return add(value);
  }
  bool number_unsigned(number_unsigned_t value) override {
    const auto id = static_cast<std::int64_t>(
        std::min(value, static_cast<number_unsigned_t>(kLargestPieceId + 1)));
    if (part_ == Part::vocab) return vocab_number(static_cast<double>(value), id);
    return add(value);
  }
  bool number_float(number_float_t value, const string_t& text) override {
    if (part_ == Part::vocab) return vocab_number(twice_rounded(text, value), -1);
    return add(value);
  }
  bool string(string_t& text) override {
    if (part_ == Part::vocab) return vocab_text(text);
    if (part_ == Part::merges) return merge_text(text);
    return add(text);
  }
  bool binary(binary_t&) override { return true; }

  bool key(string_t& key) override {
    if (depth_ == 1) section_ = key;
    if (depth_ == 2) member_ = key;
    if (part_ == Part::vocab)
      expect_short(piece_ = key);
    else if (part_ == Part::value)
      builder_.key(key);
    return true;
  }

  bool start_object(std::size_t) override { return begin(Json::object()); }
  bool start_array(std::size_t) override { return begin(Json::array()); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }

  bool parse_error(std::size_t position, const std::string&,
                   const Json::exception& error) override {
    if (dynamic_cast<const Json::out_of_range*>(&error) != nullptr)
      throw Error(fmt::format("the number before byte {} is out of range", position));
    throw Error(fmt::format("invalid JSON at byte {}", position));
  }

 private:
  /// What an event belongs to: a value, the lists of the model, or members that do not matter here.
  enum class Part : std::uint8_t { value, vocab, merges, skipped };

  static bool is_skipped(std::string_view section) {
    return section == "post_processor" || section == "padding" || section == "truncation";
  }

  bool begin(Json collection) {
    if (++depth_ > kMaxDepth)
      throw Error(fmt::format("objects and lists nest deeper than {}", kMaxDepth));
    if (depth_ == 3 && part_ == Part::value && section_ == "model" &&
        (member_ == "vocab" || member_ == "merges")) {
      part_ = member_ == "vocab" ? Part::vocab : Part::merges;
      if (!seen_.emplace(member_).second)
        throw Error(fmt::format("model.{} is given twice", member_));
      vocab_is_object_ = collection.is_object();
      if (part_ == Part::merges && vocab_is_object_) refuse_merge();
      return true;
    }
    if (depth_ == 2 && is_skipped(section_)) part_ = Part::skipped;
    if (part_ == Part::value) {
      count_value();
      builder_.begin(std::move(collection));
    } else if (part_ == Part::vocab || part_ == Part::merges) {
      if (depth_ != 4 || collection.is_object() || (part_ == Part::vocab && vocab_is_object_))
        part_ == Part::vocab ? refuse_piece() : refuse_merge();
      pair_size_ = 0;
    }
    return true;
  }

  bool end() {
    --depth_;
    if (part_ == Part::value) {
      builder_.end();
    } else if (part_ == Part::skipped) {
      if (depth_ == 1) part_ = Part::value;
    } else if (depth_ == 2) {
      part_ = Part::value;
    } else if (pair_size_ != 2) {
      part_ == Part::vocab ? refuse_piece() : refuse_merge();
    } else if (part_ == Part::merges) {
      add_merge(pair_[0], pair_[1]);
    }
    return true;
  }

  bool add(Json value) {
    if (part_ == Part::vocab) refuse_piece();
    if (part_ == Part::merges) refuse_merge();
    if (part_ == Part::skipped || (depth_ == 1 && is_skipped(section_))) return true;
    count_value();
    builder_.add(std::move(value));
    return true;
  }

  void count_value() {
    if (++values_ > kMaxValues) throw Error(fmt::format("more than {} values", kMaxValues));
  }

  [[noreturn]] void refuse_piece() const {
    throw Error(fmt::format(
        "entry {} of model.vocab is none of a piece with an id and a list of a piece and its score",
        file_.pieces.size()));
  }

  [[noreturn]] void refuse_merge() const {
    throw Error(fmt::format("entry {} of model.merges is no pair of pieces", file_.merges.size()));
  }

  void expect_short(const std::string& piece) const {
    if (piece.size() > kMaxBytesOfPiece)
      throw Error(
          fmt::format("a piece has {} bytes, more than {}", piece.size(), kMaxBytesOfPiece));
  }

  bool vocab_text(const std::string& text) {
    if (vocab_is_object_ || depth_ != 4 || pair_size_ != 0) refuse_piece();
    expect_short(piece_ = text);
    ++pair_size_;
    return true;
  }

  /// `id` is -1 for a number that is not whole.
  bool vocab_number(double score, std::int64_t id) {
    if (static_cast<std::int64_t>(file_.pieces.size()) > kLargestPieceId)
      throw Error(fmt::format("more than {} pieces", kLargestPieceId));
    if (vocab_is_object_) {
      if (id < 0 || id > kLargestPieceId)
        throw Error(fmt::format("the piece {} has the id {}; ids are 0 to {}", in_quotes(piece_),
                                score, kLargestPieceId));
      file_.pieces.push_back({static_cast<WordId>(id), std::move(piece_)});
      return true;
    }
    if (depth_ != 4 || pair_size_ != 1) refuse_piece();
    ++pair_size_;
    file_.pieces.push_back({static_cast<WordId>(file_.pieces.size()), std::move(piece_)});
    file_.scores.push_back(score);
    return true;
  }

  bool merge_text(const std::string& text) {
    if (depth_ == 4) {
      if (pair_size_ == 2) refuse_merge();
      pair_[pair_size_++] = text;
      return true;
    }
    constexpr std::string_view kVersion = "#version";
    if (text.starts_with(kVersion)) return true;
    const std::size_t space = text.find(' ');
    if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos)
      refuse_merge();
    add_merge(std::string_view(text).substr(0, space), std::string_view(text).substr(space + 1));
    return true;
  }

  void add_merge(std::string_view left, std::string_view right) {
    if (file_.merges.size() == kMaxMerges)
      throw Error(fmt::format("more than {} merges", kMaxMerges));
    file_.merges.add(left, right);
  }

  TokenizerFile& file_;
  ValueBuilder builder_;
  Part part_ = Part::value;
  std::size_t depth_ = 0, values_ = 0;
  std::string section_, member_;  ///< keys at the first and second level
  std::set<std::string> seen_;
  bool vocab_is_object_ = false;
  std::string piece_;
  std::array<std::string, 2> pair_;
  std::size_t pair_size_ = 0;
};

AddedToken added_token(const JsonPart& part) {
  AddedToken token{.content = part.text("content"),
                   .single_word = part.truth("single_word", false),
                   .left_strip = part.truth("lstrip", false),
                   .right_strip = part.truth("rstrip", false),
                   .normalized = part.truth("normalized", true),
                   .special = part.truth("special", false)};
  const std::size_t id = part.has("id") ? part.count("id", kLargestPieceId) : kLargestPieceId + 1;
  if (id > static_cast<std::size_t>(kLargestPieceId))
    part.refuse(fmt::format("an added token has no id from 0 to {}", kLargestPieceId));
  token.id = static_cast<WordId>(id);
  if (token.content.empty() || token.content.size() > kMaxBytesOfPiece)
    part.refuse(fmt::format("an added token has {} bytes; 1 to {} are possible",
                            token.content.size(), kMaxBytesOfPiece));
  return token;
}

}  // namespace

void MergeList::add(std::string_view left, std::string_view right) {
  texts_ += left;
  texts_ += right;
  lengths_.push_back(
      {static_cast<std::uint32_t>(left.size()), static_cast<std::uint32_t>(right.size())});
}

bool is_tokenizer_file(std::string_view bytes) {
  const std::string_view text = without_byte_order_mark(bytes);
  ShapeHandler handler;
  const ClassicLocale classic;
  Json::sax_parse(text.begin(), text.end(), &handler);
  return handler.is_tokenizer();
}

TokenizerFile read_tokenizer_file(std::string_view bytes, const std::string& name) {
  TokenizerFile file;
  try {
    const std::string_view text = without_byte_order_mark(bytes);
    TokenizerHandler handler(file);
    const ClassicLocale classic;
    Json::sax_parse(text.begin(), text.end(), &handler);
    const JsonPart root(file.steps, "the file");
    if (root.has("added_tokens"))
      root.for_each("added_tokens",
                    [&](const JsonPart& part) { file.added_tokens.push_back(added_token(part)); });
    file.steps.erase("added_tokens");
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", name, error.what()));
  }
  return file;
}

}  // namespace fuselage
