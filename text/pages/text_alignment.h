#pragma once

#include <vector>

#include "text/text_span.h"

namespace fuselage {

/// From which parts of a text those of its translation come.
struct TextAlignment {
  /// Tokens: in order, without overlaps.
  std::vector<TextSpan> source, target;
  /// A weight for each source token, for each target token.
  std::vector<std::vector<float>> weights;

  bool empty() const { return weights.empty(); }
};

/// The alignment of a text with the translation of its translation: the product of the weights,
/// with those of a token of the text between shared among the tokens that the other model had
/// there. Empty if one of both is.
TextAlignment composed(const TextAlignment& first, const TextAlignment& second);

}  // namespace fuselage
