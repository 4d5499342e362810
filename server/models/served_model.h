#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fuselage/decoding/translation_queue.h"
#include "fuselage/decoding/translator.h"
#include "server/models/language_pair.h"
#include "text/pages/sentence_splitter.h"

namespace fuselage {

/// A translator that was opened for a server.
struct OpenedModel {
  LanguagePair languages;
  bool has_alignment = false;
  Translator translator;
  /// Lines may have guides: a prefix of their translation, and a number of translations.
  bool has_guides = false;
  /// Makes an HTML page of the graph that the model runs, from any thread; null: there is none.
  std::function<std::string()> graph_page = nullptr;
};

/// A model and the queue of the lines that wait for it.
class ServedModel {
 public:
  ServedModel(OpenedModel opened, const QueueOptions& queue)
      : opened_(std::move(opened)),
        splitter_(opened_.languages.source),
        queue_(opened_.translator, queue) {}

  const LanguagePair& languages() const { return opened_.languages; }
  bool has_alignment() const { return opened_.has_alignment; }
  bool has_guides() const { return opened_.has_guides; }
  /// Most translations of a line.
  std::size_t n_best() const;
  /// Demands on the translation of a line, of which so many translations are wanted. Without guides
  /// there are as many as the model's options say.
  LineGuide guide(std::size_t n_best, std::string prefix = {}) const;
  const std::function<std::string()>& graph_page() const { return opened_.graph_page; }
  const Translator& translator() const { return opened_.translator; }
  const SentenceSplitter& splitter() const { return splitter_; }
  TranslationQueue& queue() const { return queue_; }

 private:
  OpenedModel opened_;
  SentenceSplitter splitter_;
  mutable TranslationQueue queue_;
};

/// The models that translate a pair of languages: one, or two by way of a third language.
struct ModelRoute {
  const ServedModel* first = nullptr;   ///< null: there is no route
  const ServedModel* second = nullptr;  ///< null: one model does

  const ServedModel& last() const { return second != nullptr ? *second : *first; }
  LanguagePair languages() const { return {first->languages().source, last().languages().target}; }
  bool operator==(const ModelRoute&) const = default;
};

/// The models of a server, each for a pair of languages. A request holds the set that it began
/// with, so that another can take its place at any time.
class ModelSet {
 public:
  /// Throws Error for two models of the same languages, and for no model.
  ModelSet(std::vector<OpenedModel> opened, const QueueOptions& queue);

  const std::vector<std::unique_ptr<ServedModel>>& models() const { return models_; }

  /// Null: there is none.
  const ServedModel* find(const std::string& source, const std::string& target) const;
  /// The model of a pair; where there is none, two by way of English, else by way of the first
  /// language by code that has both.
  ModelRoute route(const std::string& source, const std::string& target) const;
  bool has_source(const std::string& code) const;
  bool has_target(const std::string& code) const;
  /// The codes of all languages, sorted.
  std::vector<std::string> languages() const;
  /// The codes of the languages into which this one is translated, also by two models, sorted.
  std::vector<std::string> targets_of(const std::string& source) const;

 private:
  std::vector<std::unique_ptr<ServedModel>> models_;
};

}  // namespace fuselage
