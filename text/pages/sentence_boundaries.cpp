#include "text/pages/sentence_boundaries.h"

#include <fmt/format.h>
#include <unicode/brkiter.h>
#include <unicode/locid.h>
#include <unicode/utext.h>

#include <cstdint>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

/// Throws Error for a failure of ICU.
void expect_icu(UErrorCode status) {
  if (U_FAILURE(status))
    throw Error(fmt::format("ICU has no rules for sentences: {}; is its data installed?",
                            u_errorName(status)));
}

}  // namespace

std::string base_language(std::string_view language) {
  const std::string code(language.substr(0, language.find_first_of("_-")));
  const icu::Locale locale(code.c_str());
  return locale.getLanguage();
}

class SentenceBoundaries::Impl {
 public:
  explicit Impl(const std::string& language) {
    UErrorCode status = U_ZERO_ERROR;
    // Greek alone has rules of its own: its question mark is a semicolon. Locales that are unknown
    // to ICU would get the rules of the process's own.
    const icu::Locale locale = language == "el" ? icu::Locale("el") : icu::Locale::getRoot();
    rules_.reset(icu::BreakIterator::createSentenceInstance(locale, status));
    expect_icu(status);
  }

  void for_each(std::string_view text, const std::function<void(std::size_t)>& action) const {
    UErrorCode status = U_ZERO_ERROR;
    const std::unique_ptr<icu::BreakIterator> iterator(rules_->clone());
    UText view = UTEXT_INITIALIZER;
    utext_openUTF8(&view, text.data(), static_cast<std::int64_t>(text.size()), &status);
    expect_icu(status);
    iterator->setText(&view, status);
    utext_close(&view);
    expect_icu(status);
    for (auto at = iterator->next(); at != icu::BreakIterator::DONE; at = iterator->next())
      if (static_cast<std::size_t>(at) < text.size()) action(static_cast<std::size_t>(at));
  }

 private:
  std::unique_ptr<const icu::BreakIterator> rules_;
};

SentenceBoundaries::SentenceBoundaries(const std::string& language)
    : impl_(std::make_unique<const Impl>(language)) {}

SentenceBoundaries::~SentenceBoundaries() = default;

void SentenceBoundaries::for_each(std::string_view text,
                                  const std::function<void(std::size_t)>& action) const {
  impl_->for_each(text, action);
}

}  // namespace fuselage
