#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/sha256.h"
#include "base/tensor.h"
#include "graph/graph.h"

namespace fuselage {

/// A translation model, whatever it was loaded from: a graph that gives "logits" or "log_probs" (a
/// row per live hypothesis, an element per target word; see scores.h) and, where it has attention
/// to tell it, "alignment" (a weight per pair of hypothesis and source token); its weights; and
/// what the text around it needs.
struct Model {
  Graph graph;
  TensorMap weights;
  /// Paths of the source and the target vocabulary; empty when the model does not bring them.
  std::vector<std::string> vocabularies;
  /// What vocabularies must hold, by path, where the model says so.
  std::map<std::string, ListedDigest> vocabulary_digests;
  /// Source and target read from right to left.
  bool right_left = false;
  /// What a user should know about how it was loaded.
  std::vector<std::string> notes;
};

}  // namespace fuselage
