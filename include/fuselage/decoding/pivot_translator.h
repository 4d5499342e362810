#pragma once

#include <string>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/decoding/translator.h"

namespace FUSELAGE_API fuselage {

/// Translates lines by way of another language: the second model translates the best translation of
/// the first. All members may be called from several threads at the same time.
class PivotTranslator {
 public:
  /// The translators must outlive the object.
  PivotTranslator(const Translator& first, const Translator& second)
      : first_(first), second_(second) {}

  /// One translation per line: the hypotheses of the second model, with the line's own number of
  /// words and bytes, and the oddities of both lines. If TranslatorOptions::alignment is set for
  /// both models, the alignment of the best one is with the line: the product of both alignments.
  std::vector<Translation> translate(const std::vector<std::string>& lines) const;

 private:
  const Translator& first_;
  const Translator& second_;
};

}  // namespace fuselage
