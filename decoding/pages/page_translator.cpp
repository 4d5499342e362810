#include "fuselage/decoding/page_translator.h"

#include <utility>
#include <vector>

#include "decoding/lines/shared_log.h"
#include "decoding/pages/aligned_lines.h"
#include "decoding/pages/page_reader.h"
#include "decoding/pages/sentence_lines.h"
#include "decoding/translation_notes.h"
#include "text/pages/page.h"

namespace fuselage {

class PageTranslator::Impl {
 public:
  Impl(const Translator& first, const PageOptions& options, const Translator* second)
      : first_(first), second_(second), reader_(first, options), log_(options.log) {
    if (second) expect_sentences(*second);
  }

  std::string translate(std::string text) const {
    if (first_.options().strict) expect_valid_page(text);
    const auto page = reader_.read(std::move(text));
    return page->joined(translate_sentences(*page));
  }

 private:
  std::vector<TranslatedSentence> translate_sentences(const Page& page) const {
    const std::vector<std::string>& sentences = page.sentences();
    const std::vector<LineGuide> lines = sentence_lines(page);
    std::vector<Translation> translations = first_.translate(sentences, lines);
    std::vector<TranslatedSentence> results = sentences_of(first_, page, sentences, translations);
    if (second_) {
      std::vector<std::string> between;
      for (TranslatedSentence& result : results) between.push_back(std::move(result.text));
      std::vector<Translation> last = second_->translate(between, lines);
      std::vector<TranslatedSentence> last_results = sentences_of(*second_, page, between, last);
      for (std::size_t i = 0; i < last.size(); ++i) {
        last_results[i].alignment = composed(results[i].alignment, last_results[i].alignment);
        add_oddities(last[i].oddities, translations[i].oddities);
      }
      translations = std::move(last);
      results = std::move(last_results);
    }
    write_notes(lines, translations);
    return results;
  }

  /// One model's translations of the sentences, or of translations of them.
  static std::vector<TranslatedSentence> sentences_of(
      const Translator& translator, const Page& page, const std::vector<std::string>& sentences,
      const std::vector<Translation>& translations) {
    std::vector<TranslatedSentence> results;
    for (std::size_t i = 0; i < translations.size(); ++i) {
      TextAlignment alignment;
      if (page.has_markup(i)) alignment = text_alignment(translator, sentences[i], translations[i]);
      results.push_back({translations[i].text(), std::move(alignment)});
    }
    return results;
  }

  void write_notes(const std::vector<LineGuide>& lines,
                   const std::vector<Translation>& translations) const {
    if (!log_.is_read()) return;
    TranslationNotes notes(first_.options());
    for (std::size_t i = 0; i < lines.size(); ++i) notes.add(*lines[i].number, translations[i]);
    log_.write(notes.notes());
  }

  const Translator& first_;
  const Translator* second_;
  PageReader reader_;
  SharedLog log_;
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
