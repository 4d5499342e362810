#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "fuselage/decoding/translation_queue.h"
#include "server/text/line_jobs.h"

namespace fuselage {

/// Figures of what was translated.
struct TranslatedCounts {
  std::size_t lines = 0, source_words = 0, target_words = 0;

  void add(const Translation& translation);
};

/// A text of any length that was translated.
struct TranslatedPage {
  std::string text;
  /// Further translations, best first: as many as were asked for, or fewer.
  std::vector<std::string> alternatives;
};

/// Translates texts of any length: with line breaks, several sentences a line, or markup.
class TextTranslator {
 public:
  struct Options {
    bool html = false;
    std::size_t alternatives = 0;
    LineLimits limits = {};
  };

  virtual ~TextTranslator() = default;

  /// One page for each text. Adds to `counts`. Throws as LineJobs does.
  virtual std::vector<TranslatedPage> translate(TranslationQueue& queue,
                                                const std::vector<std::string>& texts,
                                                const Options& options,
                                                TranslatedCounts& counts) const = 0;
};

/// Translates each line as it is, with its white space around it. Of HTML it translates the texts
/// between tags, each as a line; those of scripts and styles stay.
std::unique_ptr<const TextTranslator> make_line_by_line_translator();

}  // namespace fuselage
