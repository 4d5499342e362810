#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// A word that a model has beside those of its vocabulary files.
struct AddedWord {
  /// -1: the number behind the last word of the file, or behind the word of -1 before it.
  std::int32_t id = -1;
  std::string text;

  bool operator==(const AddedWord&) const = default;
};

/// A language of a model that translates between several.
struct Language {
  std::string code;  ///< as users state it: "deu_Latn", "de"
  std::string word;  ///< the word of the vocabulary that stands for it: "deu_Latn", "__de__"

  bool operator==(const Language&) const = default;
};

/// The text by which a model is told a task, before its source text.
struct TaskText {
  std::string source, target;  ///< codes of languages; no source: any
  std::string text;            ///< "translate English to German: "

  bool operator==(const TaskText&) const = default;
};

/// How text becomes the words of a model, beyond its vocabularies and splitters.
struct TextFormat {
  /// The symbols of end and unknown words in the vocabulary files; empty: the usual ones, or those
  /// that a file states itself.
  std::string end = {}, unknown = {};
  /// Words that the vocabulary files lack, of both sides. No text is split into them, and they have
  /// no place in a decoded text: symbols, and names of languages.
  std::vector<AddedWord> added_words = {};
  /// The number by which ids of pieces differ from those in a SentencePiece model: 1 in models of
  /// fairseq, whose first words, up to the unknown one, are among added_words.
  std::int32_t piece_offset = 0;
  /// Whether the end symbol is the last word of a source text.
  bool source_end = true;
  /// Words before a source text, words behind its end symbol, and words that each translation
  /// begins with, which are no part of its text and have a score of 0. "{source}" and "{target}"
  /// stand for the words of its languages, and are left out without these.
  std::vector<std::string> source_prefix = {}, source_suffix = {}, target_prefix = {};
  /// The id of a word that takes the place of target_prefix where no target language is stated; -1:
  /// none.
  std::int32_t first_word = -1;
  /// The id of the word by which the decoder begins, before all words of a translation: it counts
  /// where words are not to be repeated; -1: none.
  std::int32_t start_word = -1;
  /// Ids of words that no translation has.
  std::vector<std::int32_t> suppressed = {};
  /// Sequences of ids that no translation has.
  std::vector<std::vector<std::int32_t>> forbidden = {};
  std::vector<Language> languages = {};
  std::vector<TaskText> tasks = {};
  /// Words of both languages, the preferred ones first, that take the place of parts of a source
  /// text which the vocabulary has no pieces for, and of addresses; empty: such parts are read as
  /// they are. No word begins another one.
  std::vector<std::string> placeholders = {};
  /// Codes of the languages that count unless others are stated; empty: none.
  std::string source_language = {}, target_language = {};

  bool operator==(const TextFormat&) const = default;
};

}  // namespace fuselage
