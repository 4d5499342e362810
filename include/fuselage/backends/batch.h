#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// Word ids of one sentence, the end symbol included.
using WordIds = std::vector<std::int32_t>;

/// The rows that a caller supplies for one declaration of a graph, of all sentences one after the
/// other.
struct BatchInput {
  /// A word map from a source or sentence domain, an input, or a source domain. The last gives
  /// nothing but the lengths.
  std::string_view name = {};
  std::span<const std::int32_t> lengths = {};  ///< rows of each sentence
  std::span<const std::int32_t> words = {};    ///< of a word map: an id for each row; -1: none
  std::span<const float> numbers = {};         ///< of an input: its elements, row by row
};

/// A batch of sentences. Spans have to be valid until Worker::begin returns.
struct Batch {
  /// The words of each sentence, for all word maps of the source domains that `inputs` does not
  /// name.
  std::span<const WordIds> sentences = {};
  /// The shortlist of each sentence, ascending, for a graph with a shortlist domain.
  std::span<const WordIds> shortlists = {};
  /// Texts beyond the first, factors, and numbers, in any order.
  std::span<const BatchInput> inputs = {};

  /// The number of sentences.
  std::size_t size() const {
    return sentences.empty() && !inputs.empty() ? inputs.front().lengths.size() : sentences.size();
  }
};

}  // namespace fuselage
