#pragma once

#include <string>
#include <vector>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// How to find and use the vocabularies of a model.
struct VocabularyPairOptions {
  std::vector<std::string> paths;  ///< source and target; empty: the model's own vocabularies
  bool sentencepiece_encode = true;
  bool sentencepiece_decode = true;
  /// The target text is encoded too, so target words beyond the model's are unknown words.
  bool encode_target = false;
};

}  // namespace fuselage
