#include "text/pages/sentence_splitter.h"

#include <fmt/format.h>
#include <unicode/brkiter.h>
#include <unicode/locid.h>
#include <unicode/utext.h>

#include <utility>

#include "fuselage/base/error.h"
#include "text/pages/sentence_ends.h"

namespace fuselage {
namespace {

/// Throws Error for a failure of ICU.
void expect_icu(UErrorCode status) {
  if (U_FAILURE(status))
    throw Error(fmt::format("ICU has no rules for sentences: {}; is its data installed?",
                            u_errorName(status)));
}

/// A text of the same size that ICU reads as it is meant: with spaces for line breaks, at which it
/// ends sentences; with three full stops for an ellipsis, at which it ends none; and in French with
/// the spaces that stand before closing quotes behind them.
std::string prepared(std::string_view text, bool french) {
  std::string result(text);
  for (char& byte : result)
    if (byte == '\0' || (byte >= '\t' && byte <= '\r')) byte = ' ';
  const auto replace = [&result](std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = result.find(from, at)) != std::string::npos; at += from.size())
      result.replace(at, from.size(), to);
  };
  replace("\xC2\x85", "  ");
  replace("\u2028", "   ");
  replace("\u2029", "   ");
  replace("\u2026", "...");
  if (!french) return result;
  replace(" »", "» ");
  replace("\u00A0»", "»\u00A0");
  replace("\u202F»", "»\u202F");
  return result;
}

}  // namespace

std::string base_language(std::string_view language) {
  const std::string code(language.substr(0, language.find_first_of("_-")));
  const icu::Locale locale(code.c_str());
  return locale.getLanguage();
}

class SentenceSplitter::Impl {
 public:
  explicit Impl(const std::string& language) : ends_(language), french_(language == "fr") {
    UErrorCode status = U_ZERO_ERROR;
    // Greek alone has rules of its own: its question mark is a semicolon. Locales that are unknown
    // to ICU would get the rules of the process's own.
    const icu::Locale locale = language == "el" ? icu::Locale("el") : icu::Locale::getRoot();
    rules_.reset(icu::BreakIterator::createSentenceInstance(locale, status));
    expect_icu(status);
  }

  std::vector<TextSpan> split(std::string_view paragraph) const {
    const std::string text = prepared(paragraph, french_);
    UErrorCode status = U_ZERO_ERROR;
    const std::unique_ptr<icu::BreakIterator> iterator(rules_->clone());
    UText view = UTEXT_INITIALIZER;
    utext_openUTF8(&view, text.data(), static_cast<std::int64_t>(text.size()), &status);
    expect_icu(status);
    iterator->setText(&view, status);
    utext_close(&view);
    expect_icu(status);
    std::vector<TextSpan> sentences;
    TextSpan sentence;
    const auto end_at = [&](std::size_t boundary) {
      sentence.end = boundary;
      if (const TextSpan found = without_outer_space(paragraph, sentence); !found.empty())
        sentences.push_back(found);
      sentence.begin = boundary;
    };
    for (auto at = iterator->next(); at != icu::BreakIterator::DONE; at = iterator->next()) {
      const auto boundary = static_cast<std::size_t>(at);
      if (boundary == text.size()) break;
      if (const std::size_t end = ends_.find_end(text, sentence.begin, boundary);
          end > sentence.begin)
        end_at(end);
    }
    if (sentence.begin < text.size()) end_at(text.size());
    return sentences;
  }

 private:
  SentenceEnds ends_;
  bool french_;
  std::unique_ptr<const icu::BreakIterator> rules_;
};

SentenceSplitter::SentenceSplitter(std::string_view language)
    : impl_(std::make_unique<const Impl>(base_language(language))) {}

SentenceSplitter::~SentenceSplitter() = default;

std::vector<TextSpan> SentenceSplitter::split(std::string_view paragraph) const {
  return impl_->split(paragraph);
}

}  // namespace fuselage
