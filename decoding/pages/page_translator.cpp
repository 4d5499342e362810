#include "fuselage/decoding/page_translator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "decoding/pages/aligned_lines.h"
#include "fuselage/base/error.h"
#include "text/pages/page.h"

namespace fuselage {
namespace {

/// Longer parts of sentences are divided, however few tokens they have: lines have a limit too.
constexpr std::size_t kMaxSentenceBytes = 16'384;

/// Throws Error for a translator that does not take the sentences of a page.
void expect_sentences(const Translator& translator) {
  const TranslatorOptions& options = translator.options();
  if (options.force_decode || options.constraints)
    throw Error(fmt::format(
        "pages cannot go with {}: the fields of a line would be text; leave one of the two out",
        options.force_decode ? "force-decode" : "constraints"));
  // Throws for a model with several texts.
  translator.count_tokens("");
}

std::size_t token_limit(const Translator& translator, const PageOptions& options) {
  const std::size_t most = *translator.options().max_length;
  if (options.max_tokens > most)
    throw Error(
        fmt::format("max_tokens is {}, but sentences of more than max-length {} are cut; "
                    "set max-length higher, or max_tokens lower",
                    options.max_tokens, most));
  return options.max_tokens > 0 ? options.max_tokens : std::min(kMaxSentenceTokens, most);
}

}  // namespace

class PageTranslator::Impl {
 public:
  Impl(const Translator& first, const PageOptions& options, const Translator* second)
      : first_(first),
        second_(second),
        kind_(options.kind),
        max_tokens_(token_limit(first, options)),
        splitter_(options.language.empty() ? first.source_language() : options.language) {
    expect_sentences(first);
    if (second) expect_sentences(*second);
  }

  std::string translate(std::string text) const {
    if (text.size() > kMaxPageBytes)
      throw Error(fmt::format("the page has {} bytes, but {} at most are possible; divide it",
                              text.size(), kMaxPageBytes));
    const PageReading reading{.splitter = splitter_,
                              .max_tokens = max_tokens_,
                              .count_tokens = [this](std::string_view sentence) {
                                return sentence.size() > kMaxSentenceBytes
                                           ? sentence.size()
                                           : first_.count_tokens(sentence);
                              }};
    const auto page = kind_ == PageKind::html ? read_html_page(std::move(text), reading)
                                              : read_plain_page(std::move(text), reading);
    return page->joined(translate_sentences(*page));
  }

 private:
  std::vector<TranslatedSentence> translate_sentences(const Page& page) const {
    const std::vector<std::string>& sentences = page.sentences();
    std::vector<TranslatedSentence> results = translated(first_, page, sentences);
    if (!second_) return results;
    std::vector<std::string> between;
    for (TranslatedSentence& result : results) between.push_back(std::move(result.text));
    std::vector<TranslatedSentence> last = translated(*second_, page, between);
    for (std::size_t i = 0; i < last.size(); ++i)
      last[i].alignment = composed(results[i].alignment, last[i].alignment);
    return last;
  }

  /// One model's translations of the sentences, or of translations of them.
  static std::vector<TranslatedSentence> translated(const Translator& translator, const Page& page,
                                                    const std::vector<std::string>& sentences) {
    std::vector<Translation> translations = translator.translate(sentences);
    std::vector<TranslatedSentence> results;
    for (std::size_t i = 0; i < translations.size(); ++i) {
      TextAlignment alignment;
      if (page.has_markup(i)) alignment = text_alignment(translator, sentences[i], translations[i]);
      results.push_back({translations[i].text(), std::move(alignment)});
    }
    return results;
  }

  const Translator& first_;
  const Translator* second_;
  PageKind kind_;
  std::size_t max_tokens_;
  SentenceSplitter splitter_;
};

PageTranslator::PageTranslator(const Translator& first, const PageOptions& options,
                               const Translator* second)
    : impl_(std::make_unique<const Impl>(first, options, second)) {}

PageTranslator::~PageTranslator() = default;
PageTranslator::PageTranslator(PageTranslator&&) noexcept = default;

std::string PageTranslator::translate(std::string page) const {
  return impl_->translate(std::move(page));
}

}  // namespace fuselage
