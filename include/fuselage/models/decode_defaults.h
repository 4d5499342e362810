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
