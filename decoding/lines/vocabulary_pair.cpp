#include "decoding/lines/vocabulary_pair.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "fuselage/backends/row_frame.h"
#include "fuselage/base/error.h"
#include "models/architectures/scores.h"
#include "text/text_splitter.h"

namespace fuselage {
namespace {

/// Number of source words with embeddings; with several tables of embeddings the minimum.
std::int64_t source_words(const Graph& graph) {
  std::int64_t words = 0;
  for (const MapId text : source_texts(graph)) {
    const std::int64_t size = graph.domain(graph.map(text).to).size;
    words = words == 0 ? size : std::min(words, size);
  }
  if (words == 0)
    throw Error(fmt::format("graph '{}' has no map from source tokens to words", graph.name()));
  return words;
}

/// Whether each source text has a vocabulary of its own. Else the maps of the only source domain
/// share the words.
bool has_own_vocabularies(const Graph& graph, std::size_t vocabularies) {
  const std::vector<MapId> texts = source_texts(graph);
  const auto domain = [&graph](MapId text) { return graph.map(text).from; };
  const bool is_one_text = std::all_of(texts.begin(), texts.end(), [&](MapId text) {
    return domain(text) == domain(texts.front());
  });
  if (texts.size() > 1 && vocabularies == texts.size() + 1) return true;
  if (is_one_text && vocabularies == 2) return false;
  if (is_one_text)
    throw Error(fmt::format(
        "vocabularies are two files, source and target, not {}; give the same file twice where "
        "both sides share one",
        vocabularies));
  std::vector<std::string_view> names;
  for (const MapId text : texts) names.push_back(graph.map(text).name);
  throw Error(fmt::format(
      "vocabularies are {} files, of {} and the target's, not {}; give a file twice where two "
      "share it",
      texts.size() + 1, fmt::join(names, ", "), vocabularies));
}

/// Loads each file once for the sides that read it in the same way.
class LoadedVocabularies {
 public:
  /// `options` differ for a path in the limit and the least size only.
  std::shared_ptr<const Vocabulary> load(const std::string& path,
                                         const VocabularyOptions& options) {
    auto& loaded = loaded_[{path, options.limit, options.least_size}];
    if (!loaded) loaded = load_vocabulary(path, options);
    return loaded;
  }

 private:
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, std::shared_ptr<const Vocabulary>>
      loaded_;
};

/// The rows that a table of embeddings may have behind the vocabulary without a note: published
/// models pad their own tables to a multiple of up to 128 rows.
std::int64_t usual_padding(const VocabularyPairOptions& options) {
  return options.paths.empty() ? 127 : 0;
}

std::shared_ptr<const Vocabulary> load_fitting(LoadedVocabularies& files, const std::string& path,
                                               std::int64_t words, bool cap, std::int64_t padding,
                                               VocabularyOptions options, std::string_view side,
                                               std::vector<std::string>& notes) {
  auto vocabulary = files.load(path, options);
  if (vocabulary->size() < words) {
    if (vocabulary->size() + padding < words)
      notes.push_back(fmt::format(
          "{}: the {} has {} words, but the model has {}, so that the last ones have no "
          "text; is it the vocabulary that the model was trained with?",
          path, side, vocabulary->size(), words));
    options.least_size = words;
    return files.load(path, options);
  }
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
  return files.load(path, options);
}

const std::vector<std::string>& paths_of(const Model& model, const VocabularyPairOptions& options) {
  return options.paths.empty() ? model.vocabularies : options.paths;
}

std::optional<ListedDigest> digest_of(const std::string& path, const Model& model) {
  const auto found = model.vocabulary_digests.find(path);
  return found == model.vocabulary_digests.end() ? std::nullopt : std::optional(found->second);
}

/// Adds the splitters to the vocabularies of these paths.
class Splitters {
 public:
  Splitters(const Model& model, const VocabularyPairOptions& options)
      : model_(model),
        options_(options),
        paths_(options.splitters.empty() ? model.splitters : options.splitters) {
    if (!paths_.empty() && paths_.size() != 2)
      throw Error(
          fmt::format("splitters are two files, of source and target, not {}", paths_.size()));
    if (paths_.empty() && !options.glossaries.empty())
      throw Error("glossaries are words that BPE codes leave whole, but there are no codes");
  }

  void add_to(std::shared_ptr<const Vocabulary>& vocabulary, const std::string& path,
              bool is_target) {
    if (paths_.empty()) return;
    const std::string& splitter = paths_[is_target ? 1 : 0];
    if (vocabulary->splits_text()) {
      // The model's own splitters are for its own vocabularies.
      if (options_.splitters.empty()) return;
      throw Error(fmt::format(
          "{} splits text by itself, so that {} cannot; give a vocabulary of words with it", path,
          splitter));
    }
    auto& loaded = loaded_[splitter];
    if (!loaded)
      loaded = load_splitter(
          splitter, {.glossaries = options_.glossaries, .digest = digest_of(splitter, model_)});
    vocabulary = with_splitter(
        std::move(vocabulary), loaded,
        {.split = options_.sentencepiece_encode, .join = options_.sentencepiece_decode});
  }

 private:
  const Model& model_;
  const VocabularyPairOptions& options_;
  const std::vector<std::string>& paths_;
  std::map<std::string, std::shared_ptr<const TextSplitter>> loaded_;
};

VocabularyOptions reading_of(const std::string& path, const Model& model,
                             const VocabularyPairOptions& options) {
  VocabularyOptions reading = reading_of(model.text);
  reading.sentencepiece_encode = options.sentencepiece_encode;
  reading.sentencepiece_decode = options.sentencepiece_decode;
  reading.digest = digest_of(path, model);
  return reading;
}

}  // namespace

VocabularyOptions reading_of(const TextFormat& text) {
  VocabularyOptions reading{
      .end = text.end, .unknown = text.unknown, .piece_offset = text.piece_offset};
  for (const AddedWord& word : text.added_words)
    reading.added_words.push_back({word.id, word.text});
  return reading;
}

VocabularyPair load_vocabulary_pair(const Model& model, const VocabularyPairOptions& options) {
  expect_translation_model(model);
  const std::vector<std::string>& paths = paths_of(model, options);
  if (paths.empty())
    throw Error(
        "the model brings no vocabularies; give a source and a target vocabulary, the "
        "same file twice where both sides share one");
  const Graph& graph = model.graph;
  const std::vector<MapId> texts = source_texts(graph);
  const bool own = has_own_vocabularies(graph, paths.size());
  const auto words = [&graph](MapId text) { return graph.domain(graph.map(text).to).size; };
  VocabularyPair pair{.shared = paths.front() == paths.back(), .notes = model.notes};
  LoadedVocabularies files;
  Splitters splitters(model, options);
  const auto load = [&](std::size_t i, std::int64_t count, bool cap, std::string_view side) {
    auto vocabulary = load_fitting(files, paths[i], count, cap, usual_padding(options),
                                   reading_of(paths[i], model, options), side, pair.notes);
    splitters.add_to(vocabulary, paths[i], i + 1 == paths.size());
    return vocabulary;
  };
  pair.source = load(0, own ? words(texts[0]) : source_words(graph), true, "source vocabulary");
  if (own)
    for (std::size_t i = 1; i < texts.size(); ++i)
      pair.further_sources.push_back(load(
          i, words(texts[i]), true, fmt::format("vocabulary of '{}'", graph.map(texts[i]).name)));
  pair.target =
      load(paths.size() - 1, scores_of(graph).words, options.encode_target, "target vocabulary");
  return pair;
}

std::vector<MapId> source_texts(const Graph& graph) {
  std::vector<MapId> texts;
  for (std::uint32_t i = 0; i < graph.map_count(); ++i)
    if (const RowMap& map = graph.map(MapId{i});
        map.kind == MapKind::word && graph.domain(map.from).kind == DomainKind::source)
      texts.push_back(MapId{i});
  return texts;
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
  LoadedVocabularies files;
  pair.target =
      load_fitting(files, paths[0], scores_of(model.graph).words, true, usual_padding(options),
                   reading_of(paths[0], model, options), "vocabulary", pair.notes);
  Splitters(model, options).add_to(pair.target, paths[0], true);
  return pair;
}

VocabularyPair load_vocabularies(const Model& model, const VocabularyPairOptions& options) {
  return has_source(model.graph) ? load_vocabulary_pair(model, options)
                                 : load_text_vocabulary(model, options);
}

void expect_one_text(const VocabularyPair& vocabularies, std::string_view task) {
  if (!vocabularies.further_sources.empty())
    throw Error(fmt::format("{} is possible with one source text, but the model reads {}", task,
                            1 + vocabularies.further_sources.size()));
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
