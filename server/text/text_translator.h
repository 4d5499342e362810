#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "server/models/served_model.h"
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

struct TextOptions {
  bool html = false;
  std::size_t alternatives = 0;
  LineLimits limits = {};
};

/// Translates texts of any length, with line breaks, several sentences a line, or markup, as
/// PageTranslator does, but by the queue of the model: one page for each text. An alternative has
/// the next best translation of each sentence. Adds to `counts`. Throws as LineJobs does.
std::vector<TranslatedPage> translate_texts(const ServedModel& model,
                                            const std::vector<std::string>& texts,
                                            const TextOptions& options, TranslatedCounts& counts);

}  // namespace fuselage
