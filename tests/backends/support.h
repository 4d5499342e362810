#pragma once

#include <gmock/gmock.h>

#include <random>
#include <string>
#include <vector>

#include "fuselage/backends/executable.h"
#include "fuselage/base/tensor.h"
#include "fuselage/ops/builder.h"

namespace fuselage::support {

/// A small recurrent translation model with attention and self-attention over its own prefix: every
/// kind of domain, loop and map in one graph. Outputs "logits", which are log-probabilities here,
/// and "alignment".
struct ToyModel {
  static constexpr std::int64_t kVocabulary = 50;
  Graph graph;
  TensorMap weights;
};

ToyModel toy_model(unsigned seed);

/// A model with a matrix for each head as its state, in a scan over the source and in the decoder:
/// linear attention with decay, S <- decay * S + k vᵀ and y = q S (Katharopoulos et al. 2020;
/// Peng et al. 2024 for the decay). Has the output "logits".
ToyModel linear_attention_model(unsigned seed);

/// Sentences of random words; the last word of each is 0, the end symbol.
std::vector<WordIds> random_sentences(unsigned seed, int count, int longest);

/// What every hypothesis of a sentence saw in a recorded run: its outputs, row by row.
struct Trace {
  std::vector<std::vector<float>> rows;
};

/// Runs `steps` steps on a batch with `width` hypotheses a sentence whose parents and words follow
/// from the sentence alone, so that the same sentence is searched alike in any batch. Returns a
/// trace for each sentence.
std::vector<Trace> run_trace(Worker& worker, const Executable& executable,
                             const std::vector<WordIds>& sentences, int width, int steps);

}  // namespace fuselage::support
