#include <algorithm>
#include <utility>

#include "server/text/text_parts.h"
#include "server/text/text_translator.h"

namespace fuselage {
namespace {

/// A text in parts, and the translations of those that are translated, best first.
struct PartedText {
  std::vector<TextPart> parts;
  std::vector<std::vector<std::string>> translations;

  /// The text with the translations of this rank; parts with fewer have their last one.
  std::string joined(std::size_t rank, bool html) const {
    std::string text;
    std::size_t next = 0;
    for (const TextPart& part : parts) {
      if (!part.translated) {
        text += part.text;
        continue;
      }
      const auto& all = translations[next++];
      const std::string& chosen = all[std::min(rank, all.size() - 1)];
      text += html ? escape_html(chosen) : chosen;
    }
    return text;
  }

  std::size_t ranks() const {
    std::size_t most = 1;
    for (const auto& all : translations) most = std::max(most, all.size());
    return most;
  }
};

class LineByLine : public TextTranslator {
 public:
  std::vector<TranslatedPage> translate(TranslationQueue& queue,
                                        const std::vector<std::string>& texts,
                                        const Options& options,
                                        TranslatedCounts& counts) const override {
    std::vector<PartedText> parted(texts.size());
    std::vector<std::string> lines;
    std::vector<std::pair<std::size_t, std::size_t>> places;  // of lines: text and part
    for (std::size_t i = 0; i < texts.size(); ++i) {
      parted[i].parts = options.html ? parts_of_html(texts[i]) : parts_of_text(texts[i]);
      for (const TextPart& part : parted[i].parts) {
        if (!part.translated) continue;
        places.emplace_back(i, parted[i].translations.size());
        parted[i].translations.emplace_back();
        lines.push_back(part.text);
      }
    }
    LineJobs jobs(queue, std::move(lines), options.limits);
    jobs.run([&](std::size_t line, Translation&& translation) {
      counts.add(translation);
      const auto [text, part] = places[line];
      for (const TranslatedText& entry : translation.n_best) {
        auto& all = parted[text].translations[part];
        if (all.size() <= options.alternatives && std::ranges::find(all, entry.text) == all.end())
          all.push_back(entry.text);
      }
    });
    std::vector<TranslatedPage> pages;
    for (const PartedText& text : parted) {
      TranslatedPage& page = pages.emplace_back();
      page.text = text.joined(0, options.html);
      for (std::size_t rank = 1; rank < text.ranks(); ++rank)
        page.alternatives.push_back(text.joined(rank, options.html));
    }
    return pages;
  }
};

}  // namespace

void TranslatedCounts::add(const Translation& translation) {
  ++lines;
  source_words += translation.source_words;
  target_words += translation.n_best.front().hypothesis.words.size();
}

std::unique_ptr<const TextTranslator> make_line_by_line_translator() {
  return std::make_unique<LineByLine>();
}

}  // namespace fuselage
