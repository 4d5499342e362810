#include "tools/options/repetition_options.h"

#include "fuselage/decoding/beam_search.h"
#include "tools/options/validators.h"

namespace fuselage {

void add_repetition_options(CLI::App& app, Repetition& repetition, std::int32_t& min_length) {
  app.add_option("--repetition-penalty", repetition.penalty,
                 "Multiply the log-probabilities of words that a hypothesis has already by this")
      ->check(number_in({.least = 0, .most = 1000, .whole = false, .above = true}))
      ->capture_default_str();
  app.add_option("--no-repeat-ngram-size", repetition.no_repeat_ngram_size,
                 "No sequence of so many tokens occurs twice in a hypothesis; 0: any may")
      ->check(number_in({0, kMaxNgram}))
      ->capture_default_str();
  app.add_option("--min-length", min_length,
                 "Fewest tokens of a hypothesis, the end symbol not counted, unless its length "
                 "limit is lower")
      ->check(number_in({0, kMaxMinLength}))
      ->capture_default_str();
}

}  // namespace fuselage
