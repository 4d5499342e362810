#pragma once

#include <CLI/CLI.hpp>

#include "fuselage/decoding/beam_search.h"
#include "fuselage/decoding/repetition.h"
#include "tools/options/number_options.h"

namespace fuselage {

/// Registers --repetition-penalty, --no-repeat-ngram-size and --min-length of TranslatorOptions or
/// GeneratorOptions.
template <typename Options>
void add_repetition_options(CLI::App& app, Options& options) {
  add_number(app, "--repetition-penalty", options.repetition_penalty,
             "Multiply the log-probabilities of words that a hypothesis has already by this",
             {.least = 0, .most = 1000, .whole = false, .above = true})
      ->default_str("the model's, or 1");
  add_number(app, "--no-repeat-ngram-size", options.no_repeat_ngram_size,
             "No sequence of so many tokens occurs twice in a hypothesis; 0: any may",
             {0, kMaxNgram})
      ->default_str("the model's, or 0");
  add_number(app, "--min-length", options.min_length,
             "Fewest tokens of a hypothesis, the end symbol not counted, unless its length "
             "limit is lower",
             {0, kMaxMinLength})
      ->default_str("the model's, or 0");
}

}  // namespace fuselage
