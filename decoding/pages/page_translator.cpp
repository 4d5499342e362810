#include "fuselage/decoding/page_translator.h"

#include <utility>
#include <vector>

#include "decoding/pages/aligned_lines.h"
#include "decoding/pages/page_reader.h"
#include "text/pages/page.h"

namespace fuselage {

class PageTranslator::Impl {
 public:
  Impl(const Translator& first, const PageOptions& options, const Translator* second)
      : first_(first), second_(second), reader_(first, options) {
    if (second) expect_sentences(*second);
  }

  std::string translate(std::string text) const {
    const auto page = reader_.read(std::move(text));
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
  PageReader reader_;
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
