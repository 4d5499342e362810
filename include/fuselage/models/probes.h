#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// A line, and the output of a model for it in fp32.
struct Probe {
  std::string line;                 ///< as a user gives it; of a language model a prompt
  std::vector<std::int32_t> words;  ///< the greedy translation or continuation
  std::vector<float> scores;        ///< log-probability of each word
  std::string text;                 ///< the text of the words

  friend bool operator==(const Probe&, const Probe&) = default;
};

/// Probe sentences of a model (fuselage/decoding/self_check.h).
struct Probes {
  std::vector<Probe> lines = {};
  /// The weights were rounded to fewer bits after the scores had been computed.
  bool rounded = false;

  friend bool operator==(const Probes&, const Probes&) = default;
};

}  // namespace fuselage
