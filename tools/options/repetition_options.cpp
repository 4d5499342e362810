#include "tools/options/repetition_options.h"

#include "fuselage/decoding/beam_search.h"
#include "tools/options/number_options.h"

namespace fuselage {

void add_repetition_options(CLI::App& app, Repetition& repetition,
                            std::optional<std::int32_t>& min_length) {
  add_number(app, "--repetition-penalty", repetition.penalty,
             "Multiply the log-probabilities of words that a hypothesis has already by this",
             {.least = 0, .most = 1000, .whole = false, .above = true});
  add_number(app, "--no-repeat-ngram-size", repetition.no_repeat_ngram_size,
             "No sequence of so many tokens occurs twice in a hypothesis; 0: any may",
             {0, kMaxNgram});
  add_number(app, "--min-length", min_length,
             "Fewest tokens of a hypothesis, the end symbol not counted, unless its length "
             "limit is lower",
             {0, kMaxMinLength})
      ->default_str("the model's, or 0");
}

}  // namespace fuselage
