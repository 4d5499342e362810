#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// The words that a search draws from.
enum class SamplingMethod : std::uint8_t {
  full,     ///< all words
  top_k,    ///< the k most probable words (Fan et al. 2018, "Hierarchical neural story generation")
  nucleus,  ///< the smallest set of the most probable words whose probabilities add up to p
            ///< (Holtzman et al. 2020, "The curious case of neural text degeneration")
  epsilon,  ///< words of at least the probability epsilon, and the most probable one (Hewitt et
            ///< al. 2022, "Truncation sampling as language model desmoothing")
};

/// Each word of a translation is drawn by its probability, in place of a search for the best words:
/// by softmax(log-probabilities / temperature), restricted to the words of `method`, which refers
/// to these probabilities. Scores stay the model's log-probabilities.
struct Sampling {
  SamplingMethod method = SamplingMethod::full;
  double temperature = 1;  ///< 0.001 to 1000; below 1, probable words are preferred
  std::int32_t k = 10;     ///< top_k; 1 to 1024
  double p = 0.9;          ///< nucleus; above 0 and up to 1
  double epsilon = 0.02;   ///< epsilon; above 0 and up to 1
};

/// The values of marian-decoder's option output-sampling: "full", "topk K", "nucleus P" or
/// "epsilon E", each with a temperature; numbers may be left out from the end, and no value at all
/// is "full". Throws Error for anything else.
Sampling parse_sampling(std::span<const std::string> values);

/// Throws Error, with the allowed values, for a number out of range.
void verify(const Sampling& sampling);

}  // namespace fuselage
