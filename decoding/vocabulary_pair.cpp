#include "decoding/vocabulary_pair.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuselage/backends/row_frame.h"
#include "fuselage/base/error.h"
#include "models/architectures/scores.h"

namespace fuselage {
namespace {

/// Number of source words with embeddings; with several tables of embeddings the minimum.
std::int64_t source_words(const Graph& graph) {
  std::int64_t words = 0;
  for (std::uint32_t i = 0; i < graph.map_count(); ++i) {
    const RowMap& map = graph.map(MapId{i});
    if (map.kind != MapKind::word || graph.domain(map.from).kind != DomainKind::source) continue;
    const std::int64_t size = graph.domain(map.to).size;
    words = words == 0 ? size : std::min(words, size);
  }
  if (words == 0)
    throw Error(fmt::format("graph '{}' has no map from source tokens to words", graph.name()));
  return words;
}

std::unique_ptr<const Vocabulary> load_fitting(const std::string& path, std::int64_t words,
                                               bool cap, VocabularyOptions options,
                                               std::string_view side,
                                               std::vector<std::string>& notes) {
  auto vocabulary = load_vocabulary(path, options);
  if (vocabulary->size() < words)
    throw Error(
        fmt::format("{}: the {} has {} words, but the model has {}; give the vocabulary that "
                    "the model was trained with",
                    path, side, vocabulary->size(), words));
  if (vocabulary->size() == words) return vocabulary;
  if (!cap) {
    if (vocabulary->end_id() >= words)
      throw Error(
          fmt::format("{}: the end symbol has id {}, but the model has {} target words only", path,
                      vocabulary->end_id(), words));
    notes.push_back(fmt::format("{} has {} words, of which the model can produce the first {} only",
                                path, vocabulary->size(), words));
    return vocabulary;
  }
  notes.push_back(
      fmt::format("{} has {} words, of which the model knows the first {}; the others "
                  "count as unknown",
                  path, vocabulary->size(), words));
  options.limit = words;
  return load_vocabulary(path, options);
}

const std::vector<std::string>& paths_of(const Model& model, const VocabularyPairOptions& options) {
  return options.paths.empty() ? model.vocabularies : options.paths;
}

VocabularyOptions reading_of(const std::string& path, const Model& model,
                             const VocabularyPairOptions& options) {
  VocabularyOptions result{.sentencepiece_encode = options.sentencepiece_encode,
                           .sentencepiece_decode = options.sentencepiece_decode};
  const auto digest = model.vocabulary_digests.find(path);
  if (digest != model.vocabulary_digests.end()) result.digest = digest->second;
  return result;
}

}  // namespace

VocabularyPair load_vocabulary_pair(const Model& model, const VocabularyPairOptions& options) {
  expect_translation_model(model);
  const std::vector<std::string>& paths = paths_of(model, options);
  if (paths.empty())
    throw Error(
        "the model brings no vocabularies; give a source and a target vocabulary, the "
        "same file twice where both sides share one");
  if (paths.size() != 2)
    throw Error(fmt::format(
        "vocabularies are two files, source and target, not {}; give the same file twice where "
        "both sides share one",
        paths.size()));
  VocabularyPair pair{.shared = paths[0] == paths[1], .notes = model.notes};
  pair.source = load_fitting(paths[0], source_words(model.graph), true,
                             reading_of(paths[0], model, options), "source vocabulary", pair.notes);
  pair.target = load_fitting(paths[1], scores_of(model.graph).words, options.encode_target,
                             reading_of(paths[1], model, options), "target vocabulary", pair.notes);
  return pair;
}

VocabularyPair load_text_vocabulary(const Model& model, const VocabularyPairOptions& options) {
  expect_language_model(model);
  const std::vector<std::string>& paths = paths_of(model, options);
  if (paths.empty())
    throw Error("the model brings no vocabulary; give the one that it was trained with");
  for (const std::string& path : paths)
    if (path != paths[0])
      throw Error(fmt::format(
          "a language model has one vocabulary, but {} and {} are given; give one of them",
          paths[0], path));
  VocabularyPair pair{.shared = true, .notes = model.notes};
  pair.target = load_fitting(paths[0], scores_of(model.graph).words, true,
                             reading_of(paths[0], model, options), "vocabulary", pair.notes);
  return pair;
}

VocabularyPair load_vocabularies(const Model& model, const VocabularyPairOptions& options) {
  return has_source(model.graph) ? load_vocabulary_pair(model, options)
                                 : load_text_vocabulary(model, options);
}

void expect_translation_model(const Model& model) {
  if (!has_source(model.graph))
    throw Error(fmt::format(
        "graph '{}' has no source domain: it is a language model, which does not translate; "
        "continue texts with a Generator, the command generate",
        model.graph.name()));
}

void expect_language_model(const Model& model) {
  if (has_source(model.graph))
    throw Error(fmt::format(
        "graph '{}' reads a source text, so it does not continue texts by itself; translate with "
        "a Translator, the command translate",
        model.graph.name()));
}

std::vector<WordId> words_to_suppress(const Vocabulary& vocabulary, bool allow_unknown,
                                      bool allow_special) {
  std::vector<WordId> words;
  if (!allow_unknown) words.push_back(vocabulary.unknown_id());
  if (!allow_special)
    words.insert(words.end(), vocabulary.control_ids().begin(), vocabulary.control_ids().end());
  return words;
}

}  // namespace fuselage
