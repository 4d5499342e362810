#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "fuselage/base/activations.h"
#include "fuselage/base/api.h"
#include "fuselage/base/kv_cache.h"
#include "fuselage/base/precision.h"

namespace FUSELAGE_API fuselage {

/// Order of the sentences that are read together, as in marian-decoder's option.
enum class MaxiBatchSort : std::uint8_t {
  none,  ///< as they come
  src,   ///< by source length, the longest first
};

/// When a search with DecodeDefaults::keep_beam ends for a sentence.
enum class EarlyStopping : std::uint8_t {
  never,      ///< when no open hypothesis can be among the best any more
  heuristic,  ///< when the best open one, divided by its present length, is worse than these
  first,      ///< when as many hypotheses as the beam is wide have ended
};

/// A model's own settings for decoding, named as marian-decoder's options. Options of a Translator
/// or Scorer that are unset have these values; members that are unset here have marian-decoder's
/// defaults, or, for batches, the values that are fastest.
struct DecodeDefaults {
  std::optional<std::int32_t> beam_size = {};
  std::optional<float> normalize = {};
  std::optional<float> word_penalty = {};
  std::optional<float> max_length_factor = {};
  std::optional<std::size_t> max_length = {};
  std::optional<bool> allow_unk = {};
  /// The search keeps as many open hypotheses as the beam is wide, as Transformers does, whose
  /// generate() has these settings too. Unset: the beam shrinks.
  std::optional<bool> keep_beam = {};
  std::optional<EarlyStopping> early_stopping = {};
  /// The last word that the length limit allows is the end symbol, with a score of 0.
  std::optional<bool> forced_end = {};
  /// Log-probabilities are normalized over the words that can be produced.
  std::optional<bool> renormalize = {};
  std::optional<std::int32_t> max_words = {};
  std::optional<std::int32_t> min_length = {};
  std::optional<std::int32_t> no_repeat_ngram_size = {};
  std::optional<float> repetition_penalty = {};
  std::optional<std::size_t> mini_batch = {};
  std::optional<std::size_t> mini_batch_words = {};
  std::optional<std::size_t> maxi_batch = {};
  std::optional<MaxiBatchSort> maxi_batch_sort = {};
  std::optional<Precision> precision = {};
  std::optional<Activations> activations = {};
  std::optional<KvCache> kv_cache = {};

  bool operator==(const DecodeDefaults&) const = default;
};

}  // namespace fuselage
