#pragma once

#include <map>
#include <string>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/base/sha256.h"
#include "fuselage/base/shortlist_options.h"
#include "fuselage/base/tensor.h"
#include "fuselage/graph/graph.h"
#include "fuselage/models/decode_defaults.h"
#include "fuselage/models/probes.h"
#include "fuselage/models/text_format.h"

namespace FUSELAGE_API fuselage {

/// A translation model of any format, or a language model: its weights, the properties of its text,
/// and a graph. The graph has the output "logits" or "log_probs" (a row per live hypothesis, an
/// element per target word), of an ensemble also "log_probs.i" of each model i, and, if it has
/// attention, "alignment" (a weight per pair of hypothesis and source token).
struct Model {
  Graph graph;
  TensorMap weights;
  /// Paths of the source and the target vocabulary, equal for a language model; of a graph with
  /// several source texts or factors one for each, in order of their word maps, and the target's.
  /// Empty if the model does not include them.
  std::vector<std::string> vocabularies;
  /// Paths of the SentencePiece models or BPE codes that split the text of source and target into
  /// words of these vocabularies; empty if the vocabularies split text by themselves, or it is
  /// already split.
  std::vector<std::string> splitters = {};
  /// How text becomes words, beyond these files.
  TextFormat text = {};
  /// Digests of the vocabularies and splitters by path, if the model lists them.
  std::map<std::string, ListedDigest> vocabulary_digests;
  /// Source and target are read from right to left.
  bool right_left = false;
  /// Settings for decoding that the model states. A Marian model with integers states the precision
  /// that matches them.
  DecodeDefaults decode;
  /// The shortlist that the model's configuration states; path empty: none.
  ShortlistOptions shortlist;
  /// Lines with the words and scores that the model had in fp32; none: nobody made them.
  Probes probes = {};
  /// What the model was read from, for people: "Marian .npz"; empty: not from a file.
  std::string format = {};
  /// The name of its architecture; empty: its graph is stored.
  std::string architecture = {};
  /// The licence that a model card beside it states; empty: none.
  std::string license = {};
  /// The options of the architecture as YAML, empty if there are none.
  std::string options = {};
  /// Notes for the user from loading.
  std::vector<std::string> notes;
};

}  // namespace fuselage
