#pragma once

#include <vector>

#include "text/pages/text_span.h"

namespace fuselage {

/// From which parts of a text those of its translation come.
struct TextAlignment {
  /// Tokens: in order, without overlaps.
  std::vector<TextSpan> source, target;
  /// A weight for each source token, for each target token.
  std::vector<std::vector<float>> weights;

  bool empty() const { return weights.empty(); }
};

}  // namespace fuselage
