#include "server/text/text_translator.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "decoding/pages/aligned_lines.h"
#include "server/text/sentences.h"
#include "text/pages/page.h"

namespace fuselage {
namespace {

std::unique_ptr<const Page> read_page(const ServedModel& model, const std::string& text,
                                      bool html) {
  const PageReading reading = page_reading(model);
  return html ? read_html_page(text, reading) : read_plain_page(text, reading);
}

/// A page, and the translations of its sentences, best first.
class TextInWork {
 public:
  TextInWork(const ServedModel& model, const std::string& text, bool html)
      : translator_(model.translator()),
        page_(read_page(model, text, html)),
        translations_(page_->sentences().size()) {}

  const std::vector<std::string>& sentences() const { return page_->sentences(); }

  /// Keeps the best translations of a sentence that differ.
  void add(std::size_t sentence, Translation&& translation, std::size_t most) {
    std::vector<TranslatedSentence>& kept = translations_[sentence];
    for (TranslatedText& entry : translation.n_best) {
      if (kept.size() == most) break;
      if (std::ranges::find(kept, entry.text, &TranslatedSentence::text) != kept.end()) continue;
      TextAlignment alignment;
      Translation alone;
      alone.n_best.push_back(std::move(entry));
      if (page_->has_markup(sentence))
        alignment = text_alignment(translator_, sentences()[sentence], alone);
      kept.push_back({std::move(alone.n_best[0].text), std::move(alignment)});
    }
  }

  TranslatedPage result() const {
    std::size_t ranks = 1;
    for (const auto& kept : translations_) ranks = std::max(ranks, kept.size());
    TranslatedPage page{joined(0), {}};
    for (std::size_t rank = 1; rank < ranks; ++rank) page.alternatives.push_back(joined(rank));
    return page;
  }

 private:
  /// With the translations of this rank; sentences with fewer have their last one.
  std::string joined(std::size_t rank) const {
    std::vector<TranslatedSentence> chosen;
    for (const auto& kept : translations_) chosen.push_back(kept[std::min(rank, kept.size() - 1)]);
    return page_->joined(chosen);
  }

  const Translator& translator_;
  std::unique_ptr<const Page> page_;
  std::vector<std::vector<TranslatedSentence>> translations_;
};

}  // namespace

void TranslatedCounts::add(const Translation& translation) {
  ++lines;
  source_words += translation.source_words;
  target_words += translation.n_best.front().hypothesis.words.size();
}

std::vector<TranslatedPage> translate_texts(const ServedModel& model,
                                            const std::vector<std::string>& texts,
                                            const TextOptions& options, TranslatedCounts& counts) {
  std::vector<TextInWork> work;
  std::vector<JobLine> lines;
  std::vector<std::pair<std::size_t, std::size_t>> places;  // of lines: text and sentence
  for (const std::string& text : texts) {
    const TextInWork& added = work.emplace_back(model, text, options.html);
    for (std::size_t i = 0; i < added.sentences().size(); ++i) {
      places.emplace_back(work.size() - 1, i);
      lines.push_back({added.sentences()[i], model.guide(options.alternatives + 1)});
    }
  }
  LineJobs jobs(model.queue(), std::move(lines), options.limits);
  jobs.run([&](std::size_t line, Translation&& translation) {
    counts.add(translation);
    const auto [text, sentence] = places[line];
    work[text].add(sentence, std::move(translation), options.alternatives + 1);
  });
  std::vector<TranslatedPage> pages;
  for (const TextInWork& text : work) pages.push_back(text.result());
  return pages;
}

}  // namespace fuselage
