#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/decoding/vocabulary_options.h"
#include "fuselage/graph/graph.h"
#include "fuselage/models/model.h"
#include "text/vocabulary.h"

namespace fuselage {

/// The vocabularies of a model. A language model has a target vocabulary only. Source words beyond
/// the model's embeddings are unknown words, and words of the model beyond a vocabulary have no
/// text, like ids in its gaps.
struct VocabularyPair {
  /// One object if both are the same words of one file.
  std::shared_ptr<const Vocabulary> source, target;
  /// Of a model that reads several source texts or factors, after the first one, in the order of
  /// source_texts().
  std::vector<std::shared_ptr<const Vocabulary>> further_sources = {};
  bool shared = false;  ///< both are from one file
  /// Notes for the user on words beyond the model's or the vocabulary's.
  std::vector<std::string> notes;
};

/// How a model's format of text has its vocabularies read.
VocabularyOptions reading_of(const TextFormat& text);

/// The word maps of a graph's source domains, in order of declaration: its source texts, and their
/// factors.
std::vector<MapId> source_texts(const Graph& graph);

/// Loads the vocabularies of a translation model: one for each source text and one for the target,
/// or two for a graph with one source domain, whose maps then share the words. Throws Error for
/// another number, the errors of load_vocabulary, and Error for a vocabulary with an end symbol
/// that the model cannot produce.
VocabularyPair load_vocabulary_pair(const Model& model, const VocabularyPairOptions& options);

/// Loads the vocabulary of a language model, given once or as two equal paths. Words beyond the
/// model's are unknown words. Throws Error for another number of files and as load_vocabulary_pair
/// does.
VocabularyPair load_text_vocabulary(const Model& model, const VocabularyPairOptions& options);

/// The one of both that is for the kind of the model.
VocabularyPair load_vocabularies(const Model& model, const VocabularyPairOptions& options);

/// Throws Error for a model that reads several source texts or factors, naming `task`.
void expect_one_text(const VocabularyPair& vocabularies, std::string_view task);

/// Throw Error for a model of the other kind, with the class that runs it.
void expect_translation_model(const Model& model);
void expect_language_model(const Model& model);

/// Words that a search must not produce: the unknown word and control characters, unless allowed.
std::vector<WordId> words_to_suppress(const Vocabulary& vocabulary, bool allow_unknown,
                                      bool allow_special);

}  // namespace fuselage
