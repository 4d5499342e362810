#include "text/tokenizers/decoders.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "base/suggest.h"
#include "text/tokenizers/byte_level.h"
#include "text/tokenizers/byte_pieces.h"
#include "text/tokenizers/json_part.h"
#include "text/tokenizers/metaspace.h"
#include "text/tokenizers/pattern.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace fuselage {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

std::string with_replaced(std::string_view text, const std::vector<TextRange>& ranges,
                          std::string_view content) {
  std::string result;
  std::size_t kept = 0;
  for (const TextRange& range : ranges) {
    result += text.substr(kept, range.begin - kept);
    result += content;
    kept = range.end;
  }
  return result += text.substr(kept);
}

/// A space for each sign, but none for those of the first token.
class MetaspaceDecoder : public TokenDecoder {
 public:
  explicit MetaspaceDecoder(const JsonPart& part) : options_(metaspace_options(part)) {}

  void apply(std::vector<DecodedPart>& parts) const override {
    bool drops = options_.prepend != MetaspaceOptions::Prepend::never;
    for (DecodedPart& part : parts) {
      if (!part.is_final) replace(part.text, drops ? "" : " ");
      drops = false;
    }
  }

 private:
  void replace(std::string& text, std::string_view content) const {
    const std::string& sign = options_.replacement;
    std::vector<TextRange> ranges;
    for (std::size_t at = 0; (at = text.find(sign, at)) != std::string::npos; at += sign.size())
      ranges.push_back({at, at + sign.size()});
    if (!ranges.empty()) text = with_replaced(text, ranges, content);
  }

  MetaspaceOptions options_;
};

/// The text of the bytes that tokens write, as one part.
class ByteLevelDecoder : public TokenDecoder {
 public:
  void apply(std::vector<DecodedPart>& parts) const override {
    std::string bytes;
    for (const DecodedPart& part : parts) {
      const std::optional<std::string> written =
          part.is_final ? std::nullopt : written_bytes(part.text);
      bytes += written ? *written : part.text;
    }
    parts = {{with_replaced_errors(bytes), false}};
  }
};

class ReplaceDecoder : public TokenDecoder {
 public:
  explicit ReplaceDecoder(const JsonPart& part) : pattern_(part), content_(part.text("content")) {}

  void apply(std::vector<DecodedPart>& parts) const override {
    for (DecodedPart& part : parts)
      if (!part.is_final) part.text = with_replaced(part.text, pattern_.find(part.text), content_);
  }

 private:
  TextPattern pattern_;
  std::string content_;
};

/// The characters that byte pieces one after the other spell; U+FFFD for each of them, if they
/// spell none.
class ByteFallbackDecoder : public TokenDecoder {
 public:
  void apply(std::vector<DecodedPart>& parts) const override {
    std::vector<DecodedPart> result;
    std::string bytes;
    const auto finish = [&] {
      if (bytes.empty()) return;
      if (with_replaced_errors(bytes) == bytes)
        result.push_back({bytes});
      else
        for (std::size_t i = 0; i < bytes.size(); ++i)
          result.push_back({std::string(kReplacement)});
      bytes.clear();
    };
    for (DecodedPart& part : parts) {
      const std::optional<char> byte = part.is_final ? std::nullopt : byte_of_piece(part.text);
      if (byte) {
        bytes += *byte;
      } else {
        finish();
        result.push_back(std::move(part));
      }
    }
    finish();
    parts = std::move(result);
  }
};

std::string joined_parts(const std::vector<DecodedPart>& parts, std::string_view between) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += between;
    text += parts[i].text;
  }
  return text;
}

class FuseDecoder : public TokenDecoder {
 public:
  void apply(std::vector<DecodedPart>& parts) const override {
    parts = {{joined_parts(parts, ""), false}};
  }
};

/// Without a character at the beginning and at the end of each part, up to so many times.
class StripDecoder : public TokenDecoder {
 public:
  explicit StripDecoder(const JsonPart& part)
      : content_(part.text("content")),
        start_(part.count("start", 0)),
        stop_(part.count("stop", 0)) {
    if (content_.empty() || first_character(content_).length != content_.size())
      part.refuse(fmt::format("the content {} is not one character", in_quotes(content_)));
  }

  void apply(std::vector<DecodedPart>& parts) const override {
    for (DecodedPart& part : parts) {
      if (part.is_final) continue;
      std::string_view rest = part.text;
      for (std::size_t i = 0; i < start_ && rest.starts_with(content_); ++i)
        rest.remove_prefix(content_.size());
      for (std::size_t i = 0; i < stop_ && rest.ends_with(content_); ++i)
        rest.remove_suffix(content_.size());
      part.text = std::string(rest);
    }
  }

 private:
  std::string content_;
  std::size_t start_, stop_;
};

}  // namespace

void add_decoders(const JsonPart& part, TokenDecoders& decoders) {
  const std::string type = part.type();
  if (type == "Sequence")
    part.for_each("decoders", [&](const JsonPart& each) { add_decoders(each, decoders); });
  else if (type == "Metaspace")
    decoders.push_back(std::make_unique<MetaspaceDecoder>(part));
  else if (type == "ByteLevel")
    decoders.push_back(std::make_unique<ByteLevelDecoder>());
  else if (type == "Replace")
    decoders.push_back(std::make_unique<ReplaceDecoder>(part));
  else if (type == "ByteFallback")
    decoders.push_back(std::make_unique<ByteFallbackDecoder>());
  else if (type == "Fuse")
    decoders.push_back(std::make_unique<FuseDecoder>());
  else if (type == "Strip")
    decoders.push_back(std::make_unique<StripDecoder>(part));
  else
    part.refuse(
        fmt::format("the decoder {} is not supported; Metaspace, ByteLevel, Replace, ByteFallback, "
                    "Fuse, Strip and sequences of them are",
                    in_quotes(type)));
}

std::string decode(const TokenDecoders& decoders, std::vector<DecodedPart> parts) {
  for (const auto& decoder : decoders) decoder->apply(parts);
  return joined_parts(parts, decoders.empty() ? " " : "");
}

}  // namespace fuselage
