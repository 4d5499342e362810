#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/model.h"
#include "text/vocabulary.h"

namespace fuselage {

/// The vocabularies of a model, fitted to the number of words that it knows on either side.
struct VocabularyPair {
  std::unique_ptr<const Vocabulary> source, target;
  bool shared = false;  ///< they come from one file
  /// What a user should know about how they fit.
  std::vector<std::string> notes;
};

/// How to find and use the vocabularies of a model.
struct VocabularyPairOptions {
  std::vector<std::string> paths;  ///< source and target; empty: those that the model brings
  bool sentencepiece_encode = true;
  bool sentencepiece_decode = true;
  /// The target text is read as the source text is, and so capped in the same way.
  bool encode_target = false;
};

/// Loads them. Throws Error when there are none or not two, for what load_vocabulary refuses, and
/// for a vocabulary with fewer words than the model, which must be that of another one.
VocabularyPair load_vocabulary_pair(const Model& model, const VocabularyPairOptions& options);

}  // namespace fuselage
