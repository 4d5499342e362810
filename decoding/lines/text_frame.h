#pragma once

#include <string>
#include <vector>

#include "fuselage/backends/batch.h"
#include "fuselage/models/text_format.h"
#include "text/vocabulary.h"

namespace fuselage {

/// The words that a model has around a source text, and at the beginning of its translation, for a
/// pair of languages.
struct TextFrame {
  std::string task = {};             ///< text before a source text
  WordIds before = {}, behind = {};  ///< words around a source text
  bool has_end = true;               ///< the end symbol is the last word of the text
  WordIds beginning = {};            ///< of translations
  /// The words of a source text, the end symbol last, with those around them.
  WordIds framed(const WordIds& words) const;
  /// Weights of these words as weights of the words of the text, the end symbol last.
  void unframe(std::vector<float>& weights) const;
  std::size_t size() const { return before.size() + behind.size(); }
};

/// The frame of texts in these languages, by their codes; empty: those of the model. Throws Error
/// for languages that the model does not know or that have to be stated, and for words of the
/// format that a vocabulary lacks.
TextFrame text_frame(const TextFormat& format, const Vocabulary& source, const Vocabulary& target,
                     const std::string& source_language, const std::string& target_language);

}  // namespace fuselage
