#include "text/bpe/bpe.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <utility>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "text/bpe/codes.h"
#include "text/split.h"

namespace fuselage {
namespace {

constexpr std::string_view kSeparator = "@@";
/// std::regex takes stack for each byte.
constexpr std::size_t kMaxGlossaryBytes = 512;

/// Words that stay whole.
class Glossary {
 public:
  explicit Glossary(const std::string& pattern) {
    try {
      pattern_ = std::regex(pattern, std::regex::ECMAScript | std::regex::optimize);
    } catch (const std::regex_error& error) {
      throw Error(fmt::format("the glossary {} is no regular expression: {}", in_quotes(pattern),
                              error.what()));
    }
    if (std::regex_match("", pattern_))
      throw Error(fmt::format("the glossary {} matches the empty text; it must match words only",
                              in_quotes(pattern)));
  }

  bool is(std::string_view word) const {
    return word.size() <= kMaxGlossaryBytes && std::regex_match(word.begin(), word.end(), pattern_);
  }

  /// Appends the parts of `segment` to `parts`, each match a part of its own.
  void divide(std::string_view segment, std::vector<std::string_view>& parts) const {
    if (segment.size() <= kMaxGlossaryBytes && !is(segment)) {
      using Matches = std::regex_iterator<std::string_view::const_iterator>;
      auto begin = segment.begin();
      for (Matches match(segment.begin(), segment.end(), pattern_); match != Matches(); ++match) {
        if (match->length() == 0) continue;
        const auto [from, to] = std::pair((*match)[0].first, (*match)[0].second);
        if (from != begin) parts.emplace_back(begin, from);
        parts.emplace_back(from, to);
        begin = to;
      }
      if (begin != segment.end()) parts.emplace_back(begin, segment.end());
    } else {
      parts.push_back(segment);
    }
  }

 private:
  std::regex pattern_;
};

class BpeSplitter : public TextSplitter {
 public:
  BpeSplitter(std::string_view bytes, const std::string& name,
              const std::vector<std::string>& glossaries)
      : codes_(bytes, name) {
    for (const std::string& pattern : glossaries) glossaries_.emplace_back(pattern);
  }

  std::string split(std::string_view line) const override {
    std::string text;
    for_each_word(line, [&](std::string_view word) {
      const std::vector<std::string_view> subwords = subwords_of(word);
      for (std::size_t i = 0; i < subwords.size(); ++i) {
        if (!text.empty()) text += ' ';
        text += subwords[i];
        if (i + 1 < subwords.size()) text += kSeparator;
      }
    });
    return text;
  }

  std::string join(std::string_view words) const override {
    std::string text;
    bool inside = true;  // of a word, or at the beginning
    for_each_word(words, [&](std::string_view word) {
      if (!inside) text += ' ';
      inside = word.ends_with(kSeparator);
      text += inside ? word.substr(0, word.size() - kSeparator.size()) : word;
    });
    return text;
  }

 private:
  std::vector<std::string_view> subwords_of(std::string_view word) const {
    std::vector<std::string_view> parts = {word};
    for (const Glossary& glossary : glossaries_) {
      std::vector<std::string_view> divided;
      for (const std::string_view part : parts) glossary.divide(part, divided);
      parts = std::move(divided);
    }
    std::vector<std::string_view> subwords;
    for (const std::string_view part : parts) {
      const std::vector<std::string_view> split =
          is_glossary(part) ? std::vector{part} : codes_.split(part);
      subwords.insert(subwords.end(), split.begin(), split.end());
    }
    return subwords;
  }

  bool is_glossary(std::string_view part) const {
    return std::any_of(glossaries_.begin(), glossaries_.end(),
                       [&](const Glossary& glossary) { return glossary.is(part); });
  }

  BpeCodes codes_;
  std::vector<Glossary> glossaries_;
};

}  // namespace

std::unique_ptr<const TextSplitter> parse_bpe(std::string_view bytes, const std::string& name,
                                              const std::vector<std::string>& glossaries) {
  return std::make_unique<BpeSplitter>(bytes, name, glossaries);
}

}  // namespace fuselage
