#pragma once

#include <cstddef>
#include <optional>

#include "fuselage/base/api.h"
#include "fuselage/models/decode_defaults.h"

namespace FUSELAGE_API fuselage {

/// How lines are gathered into batches, named as marian-decoder's options. Members that are unset
/// have the model's defaults, else the values that are fastest. They do not change translations.
struct BatchOptions {
  std::optional<std::size_t> mini_batch;  ///< maximum number of sentences in a batch
  /// Maximum number of words with padding, instead of sentences; 0: count sentences.
  std::optional<std::size_t> mini_batch_words;
  std::optional<std::size_t> maxi_batch;  ///< batches that are read and sorted together
  std::optional<MaxiBatchSort> maxi_batch_sort;
};

}  // namespace fuselage
