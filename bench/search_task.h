#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "fuselage/decoding/beam_search.h"
#include "fuselage/models/model.h"

namespace fuselage {

/// The text that a model translates in a benchmark, and the options of the search.
struct SearchTask {
  SearchOptions search;
  std::vector<std::vector<WordIds>> batches;  ///< the longest sentences first
  std::size_t words = 0;                      ///< number of words of the text, separated by blanks
};

/// The first `sentences` non-empty lines of the file `text`, in batches of `batch`. Throws Error
/// when the file cannot be read.
SearchTask read_search_task(const Model& model, const std::string& text, std::int32_t beam,
                            std::size_t batch,
                            std::size_t sentences = std::numeric_limits<std::size_t>::max());

}  // namespace fuselage
