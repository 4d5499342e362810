#include "text/tokenizers/normalizers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "text/sentencepiece/charsmap.h"
#include "text/tokenizers/json_part.h"
#include "text/tokenizers/pattern.h"
#include "text/unicode.h"

namespace fuselage {
namespace {

using Change = AlignedText::Change;

/// The content of a Base64 text (RFC 4648, section 4); nothing for any other text.
std::optional<std::string> decoded_base64(std::string_view text) {
  static const auto value_of = [] {
    std::array<std::int8_t, 256> values{};
    values.fill(-1);
    std::int8_t value = 0;
    for (const char c :
         std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"))
      values[static_cast<unsigned char>(c)] = value++;
    return values;
  }();
  if (text.size() % 4 != 0) return std::nullopt;
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::int8_t value = value_of[static_cast<unsigned char>(c)];
    if (value < 0) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFF);
  }
  return bytes;
}

/// Appends `replacement` for `count` characters.
void add_replaced(const std::vector<char32_t>& replacement, std::size_t count,
                  std::vector<Change>& characters) {
  const std::size_t size = replacement.size();
  for (std::size_t i = 0; i < size; ++i) characters.push_back({replacement[i], i < count ? 0 : 1});
  // As in the library, nothing tells of characters that are removed at the beginning.
  if (size < count && !characters.empty())
    characters.back().change -= static_cast<std::ptrdiff_t>(count - size);
}

/// The rules of a SentencePiece model. They replace a grapheme cluster of less than six bytes by
/// the rule for its beginning, and else each character.
class PrecompiledNormalizer : public TextNormalizer {
 public:
  explicit PrecompiledNormalizer(const std::string& charsmap) : charsmap_(charsmap) {}

  void apply(AlignedText& text) const override {
    constexpr std::size_t kLongestWhole = 5;
    std::vector<Change> characters;
    bool changed = false;
    const auto replace = [&](std::string_view part) {
      const std::optional<std::string_view> replacement = charsmap_.replacement(part);
      if (replacement) {
        add_replaced(characters_of(*replacement), characters_of(part).size(), characters);
        changed = true;
      }
      return replacement.has_value();
    };
    for_each_grapheme(text.text(), [&](std::string_view cluster) {
      if (cluster.size() <= kLongestWhole && replace(cluster)) return;
      while (!cluster.empty()) {
        const Character character = first_character(cluster);
        if (!replace(cluster.substr(0, character.length)))
          characters.push_back({character.code, 0});
        cluster.remove_prefix(character.length);
      }
    });
    if (changed) text.transform(characters);
  }

 private:
  Charsmap charsmap_;
};

class ReplaceNormalizer : public TextNormalizer {
 public:
  explicit ReplaceNormalizer(const JsonPart& part)
      : pattern_(part), content_(part.text("content")) {}

  void apply(AlignedText& text) const override {
    text.replace(pattern_.find(text.text()), content_);
  }

 private:
  TextPattern pattern_;
  std::string content_;
};

class PrependNormalizer : public TextNormalizer {
 public:
  explicit PrependNormalizer(std::string added) : added_(std::move(added)) {}

  void apply(AlignedText& text) const override { text.prepend(added_); }

 private:
  std::string added_;
};

class StripNormalizer : public TextNormalizer {
 public:
  StripNormalizer(bool left, bool right) : left_(left), right_(right) {}

  void apply(AlignedText& text) const override {
    const std::vector<char32_t> codes = characters_of(text.text());
    std::size_t begin = 0, end = codes.size();
    if (left_)
      while (begin < end && is_unicode_space(codes[begin])) ++begin;
    if (right_)
      while (end > begin && is_unicode_space(codes[end - 1])) --end;
    if (end - begin == codes.size()) return;
    std::vector<Change> characters;
    for (std::size_t i = begin; i < end; ++i) characters.push_back({codes[i], 0});
    text.transform(characters, begin);
  }

 private:
  bool left_, right_;
};

/// Keeps or changes each character by itself.
class CharacterNormalizer : public TextNormalizer {
 public:
  /// Returns the characters in the place of one, or none.
  using Function = std::u32string (*)(char32_t);

  explicit CharacterNormalizer(Function function) : function_(function) {}

  void apply(AlignedText& text) const override {
    std::vector<Change> characters;
    std::size_t removed = 0;
    for (const char32_t code : characters_of(text.text())) {
      const std::u32string replacement = function_(code);
      for (std::size_t i = 0; i < replacement.size(); ++i)
        characters.push_back({replacement[i], i == 0 ? 0 : 1});
      if (!replacement.empty()) continue;
      if (characters.empty())
        ++removed;
      else
        --characters.back().change;
    }
    text.transform(characters, removed);
  }

 private:
  Function function_;
};

std::u32string without_accents(char32_t code) {
  return is_combining_mark(code) ? std::u32string() : std::u32string(1, code);
}

/// The rules of SentencePiece's `nmt` beside those of NFKC.
std::u32string nmt_characters(char32_t code) {
  const bool is_removed = (code >= 0x01 && code <= 0x08) || code == 0x0B ||
                          (code >= 0x0E && code <= 0x1F) || code == 0x7F || code == 0x8F ||
                          code == 0x9F;
  if (is_removed) return {};
  const bool is_space = code == 0x09 || code == 0x0A || code == 0x0C || code == 0x0D ||
                        code == 0x1680 || (code >= 0x200B && code <= 0x200F) || code == 0x2028 ||
                        code == 0x2029 || code == 0x2581 || code == 0xFEFF || code == 0xFFFD;
  return std::u32string(1, is_space ? U' ' : code);
}

class FormNormalizer : public TextNormalizer {
 public:
  explicit FormNormalizer(NormalForm form) : form_(form) {}

  void apply(AlignedText& text) const override {
    // Sorting marks takes quadratic time in their number.
    constexpr std::size_t kMostAtOnce = 256;
    std::vector<Change> characters;
    std::u32string part;
    const auto finish = [&] {
      if (part.empty()) return;
      const std::u32string form = normal_form(part, form_);
      add_replaced({form.begin(), form.end()}, part.size(), characters);
      part.clear();
    };
    for (const char32_t code : characters_of(text.text())) {
      if (begins_normal_part(code, form_) || part.size() == kMostAtOnce) finish();
      part += code;
    }
    finish();
    text.transform(characters);
  }

 private:
  NormalForm form_;
};

std::unique_ptr<const TextNormalizer> precompiled_normalizer(const JsonPart& part) {
  const std::optional<std::string> charsmap = decoded_base64(part.text("precompiled_charsmap"));
  if (!charsmap) part.refuse("'precompiled_charsmap' is not Base64");
  try {
    return std::make_unique<PrecompiledNormalizer>(*charsmap);
  } catch (const Error& error) {
    part.refuse(error.what());
  }
}

}  // namespace

void add_normalizers(const JsonPart& part, TextNormalizers& normalizers) {
  const std::string type = part.type();
  const auto add = [&]<typename Normalizer>(std::type_identity<Normalizer>, auto&&... arguments) {
    normalizers.push_back(
        std::make_unique<Normalizer>(std::forward<decltype(arguments)>(arguments)...));
  };
  constexpr std::type_identity<CharacterNormalizer> kCharacters;
  constexpr std::type_identity<FormNormalizer> kForm;
  if (type == "Sequence")
    part.for_each("normalizers", [&](const JsonPart& each) { add_normalizers(each, normalizers); });
  else if (type == "Precompiled")
    normalizers.push_back(precompiled_normalizer(part));
  else if (type == "Replace")
    add(std::type_identity<ReplaceNormalizer>(), part);
  else if (type == "Prepend")
    add(std::type_identity<PrependNormalizer>(), part.text("prepend"));
  else if (type == "Strip")
    add(std::type_identity<StripNormalizer>(), part.truth("strip_left", true),
        part.truth("strip_right", true));
  else if (type == "StripAccents")
    add(kCharacters, &without_accents);
  else if (type == "Lowercase")
    add(kCharacters, &small_letters);
  else if (type == "Nmt")
    add(kCharacters, &nmt_characters);
  else if (type == "NFC")
    add(kForm, NormalForm::nfc);
  else if (type == "NFD")
    add(kForm, NormalForm::nfd);
  else if (type == "NFKC")
    add(kForm, NormalForm::nfkc);
  else if (type == "NFKD")
    add(kForm, NormalForm::nfkd);
  else
    part.refuse(fmt::format(
        "the normalizer {} is not supported; Precompiled, Replace, Prepend, Strip, StripAccents, "
        "Lowercase, Nmt, NFC, NFD, NFKC, NFKD and sequences of them are",
        in_quotes(type)));
}

void apply(const TextNormalizers& normalizers, AlignedText& text) {
  for (const auto& normalizer : normalizers) normalizer->apply(text);
}

}  // namespace fuselage
