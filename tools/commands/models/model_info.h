#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fuselage/models/model.h"

namespace fuselage {

/// Facts on a model, for people and programs.
struct ModelInfo {
  struct Weights {
    std::string type;  ///< "f32", "qint8"
    int bits = 0;      ///< of a number in a model directory, without scales
    std::size_t tensors = 0, bytes = 0;
    std::int64_t numbers = 0;
  };
  struct Table {
    std::string name;
    std::int64_t rows = 0, width = 0;
  };
  struct TextFile {
    std::string side;  ///< "source", "target"
    std::string path;
    std::string kind;        ///< "SentencePiece", "words (YAML)", "BPE codes"
    std::int64_t words = 0;  ///< of a vocabulary
  };
  using Options = std::vector<std::pair<std::string, std::string>>;

  std::string path, format, architecture, name;
  std::string license = {};
  std::vector<std::string> languages = {};                 ///< codes, of a model of several
  std::string source_language = {}, target_language = {};  ///< codes that the model states
  std::vector<std::string> placeholders = {};              ///< TextFormat::placeholders
  bool right_left = false, is_language_model = false;
  Options options;  ///< of the architecture
  std::int64_t source_words = 0, target_words = 0;
  std::vector<Table> embeddings;  ///< parameters with a row for each word
  std::vector<Weights> weights;   ///< by type and bits
  std::vector<TextFile> vocabularies, splitters;
  ShortlistOptions shortlist;
  Options stated;    ///< settings for decoding that the model states
  Options defaults;  ///< the others
  std::vector<std::string> notes;
};

/// Gathers the facts on a model, and reads its vocabularies. `path` is for the report. Throws the
/// errors of load_vocabulary.
ModelInfo model_info(const Model& model, const std::string& path);

std::string print_info(const ModelInfo& info);
std::string print_info_json(const ModelInfo& info);

}  // namespace fuselage
