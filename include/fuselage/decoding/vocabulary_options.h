#pragma once

#include <string>
#include <vector>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// How to find and use the vocabularies of a model.
struct VocabularyPairOptions {
  std::vector<std::string> paths = {};  ///< source and target; empty: the model's own vocabularies
  /// Of source and target, as Model::splitters; empty: the model's own, if any.
  std::vector<std::string> splitters = {};
  /// Regular expressions of words that BPE codes leave whole.
  std::vector<std::string> glossaries = {};
  bool sentencepiece_encode = true;  ///< false: lines are already split into words or pieces
  bool sentencepiece_decode = true;  ///< false: texts stay split
  /// The target text is encoded too, so target words beyond the model's are unknown words.
  bool encode_target = false;
};

}  // namespace fuselage
