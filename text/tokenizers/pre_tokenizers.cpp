#include "text/tokenizers/pre_tokenizers.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/suggest.h"
#include "text/tokenizers/byte_level.h"
#include "text/tokenizers/json_part.h"
#include "text/tokenizers/metaspace.h"
#include "text/unicode.h"

namespace fuselage {
namespace {

/// The parts of a text between spaces.
class WhitespaceSplit : public PreTokenizer {
 public:
  void split(AlignedText text, std::vector<AlignedText>& parts) const override {
    const std::string_view whole = text.text();
    std::size_t begin = 0;
    const auto finish = [&](std::size_t end) {
      if (end > begin) parts.push_back(text.slice({begin, end}));
    };
    for (std::size_t at = 0; at < whole.size();) {
      const Character character = first_character(whole.substr(at));
      if (is_unicode_space(character.code)) {
        finish(at);
        begin = at + character.length;
      }
      at += character.length;
    }
    finish(whole.size());
  }
};

/// Writes a sign for each space, and puts one at the beginning.
class MetaspaceSplit : public PreTokenizer {
 public:
  explicit MetaspaceSplit(const JsonPart& part)
      : options_(metaspace_options(part)), splits_(part.truth("split", true)) {}

  void split(AlignedText text, std::vector<AlignedText>& parts) const override {
    const std::string& sign = options_.replacement;
    text.replace(spaces_of(text.text()), sign);
    const bool prepends =
        options_.prepend == MetaspaceOptions::Prepend::always ||
        (options_.prepend == MetaspaceOptions::Prepend::first && text.line_begin() == 0);
    if (prepends && !text.text().starts_with(sign)) text.prepend(sign);
    if (!splits_) {
      parts.push_back(std::move(text));
      return;
    }
    const std::string_view whole = text.text();
    for (std::size_t begin = 0; begin < whole.size();) {
      const std::size_t end = std::min(whole.find(sign, begin + 1), whole.size());
      parts.push_back(text.slice({begin, end}));
      begin = end;
    }
  }

 private:
  static std::vector<TextRange> spaces_of(std::string_view text) {
    std::vector<TextRange> spaces;
    for (std::size_t at = 0; (at = text.find(' ', at)) != std::string_view::npos; ++at)
      spaces.push_back({at, at + 1});
    return spaces;
  }

  MetaspaceOptions options_;
  bool splits_;
};

class ByteLevelSplit : public PreTokenizer {
 public:
  explicit ByteLevelSplit(const JsonPart& part)
      : add_space_(part.truth("add_prefix_space", true)), splits_(part.truth("use_regex", true)) {}

  void split(AlignedText text, std::vector<AlignedText>& parts) const override {
    if (add_space_ && !text.text().starts_with(' ')) text.prepend(" ");
    if (splits_)
      for (const TextRange& range : gpt2_parts(text.text())) add(text.slice(range), parts);
    else
      add(std::move(text), parts);
  }

  bool writes_bytes() const override { return true; }

 private:
  static void add(AlignedText part, std::vector<AlignedText>& parts) {
    write_bytes(part);
    parts.push_back(std::move(part));
  }

  bool add_space_, splits_;
};

}  // namespace

void add_pre_tokenizers(const JsonPart& part, PreTokenizers& pre_tokenizers) {
  const std::string type = part.type();
  if (type == "Sequence")
    part.for_each("pretokenizers",
                  [&](const JsonPart& each) { add_pre_tokenizers(each, pre_tokenizers); });
  else if (type == "WhitespaceSplit")
    pre_tokenizers.push_back(std::make_unique<WhitespaceSplit>());
  else if (type == "Metaspace")
    pre_tokenizers.push_back(std::make_unique<MetaspaceSplit>(part));
  else if (type == "ByteLevel")
    pre_tokenizers.push_back(std::make_unique<ByteLevelSplit>(part));
  else
    part.refuse(
        fmt::format("the pre-tokenizer {} is not supported; WhitespaceSplit, Metaspace, ByteLevel "
                    "and sequences of them are",
                    in_quotes(type)));
}

std::vector<AlignedText> split(const PreTokenizers& pre_tokenizers, AlignedText text) {
  std::vector<AlignedText> parts;
  parts.push_back(std::move(text));
  for (const auto& pre_tokenizer : pre_tokenizers) {
    std::vector<AlignedText> divided;
    for (AlignedText& part : parts)
      if (!part.empty()) pre_tokenizer->split(std::move(part), divided);
    parts = std::move(divided);
  }
  std::erase_if(parts, [](const AlignedText& part) { return part.empty(); });
  return parts;
}

}  // namespace fuselage
