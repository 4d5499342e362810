#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "decoding/lines/line_encoder.h"
#include "fuselage/decoding/translation.h"
#include "fuselage/decoding/translator.h"

namespace fuselage {

/// Gathers the oddities of the lines of a text, and whether the model knows such text at all.
class TranslationNotes {
 public:
  /// `options` are those of the translator, with values.
  explicit TranslationNotes(const TranslatorOptions& options)
      : lines_(options.max_length.value()),
        only_lines_(options.skip_cost || options.sampling.has_value()) {}

  void add(std::size_t line, const Translation& translation);

  /// The notes of LineNotes, and one if the words of the translations are improbable on average:
  /// the only sign of a vocabulary or configuration that fits the weights in its sizes only.
  std::vector<std::string> notes() const;

 private:
  LineNotes lines_;
  bool only_lines_;  ///< scores are logits, or of words that were drawn
  std::size_t words_ = 0;
  double log_probability_ = 0;
};

}  // namespace fuselage
