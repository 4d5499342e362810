#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fuselage/decoding/vocabulary_options.h"
#include "fuselage/models/model.h"
#include "text/vocabulary.h"

namespace fuselage {

/// The vocabularies of a model. Source words beyond the model's embeddings are unknown words.
struct VocabularyPair {
  std::unique_ptr<const Vocabulary> source, target;
  bool shared = false;  ///< both are from one file
  /// Notes for the user on words beyond the model's.
  std::vector<std::string> notes;
};

/// Loads the vocabularies of a model. Throws Error when there are not two, the errors of
/// load_vocabulary, and Error for a vocabulary with fewer words than the model or with an end
/// symbol that the model cannot produce.
VocabularyPair load_vocabulary_pair(const Model& model, const VocabularyPairOptions& options);

}  // namespace fuselage
