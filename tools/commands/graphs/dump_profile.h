#pragma once

#include <string>
#include <vector>

#include "decoding/lines/vocabulary_pair.h"
#include "fuselage/backends/executable.h"
#include "fuselage/decoding/beam_search.h"
#include "fuselage/models/model.h"

namespace fuselage {

/// A text to translate for time measurements.
struct ProfileInput {
  std::vector<WordIds> sentences;
  SearchOptions search;
};

/// Reads and encodes the text at `path`, a sentence per line, for `model`; empty lines are skipped.
/// Throws Error when no line is left.
ProfileInput read_profile_input(const Model& model, const VocabularyPairOptions& vocabularies,
                                const std::string& path, std::int32_t beam_size);

/// Translates the text in batches of `mini_batch` sentences. The workers of `executable` measure
/// the times.
void run_profile(const Executable& executable, const ProfileInput& input, std::size_t mini_batch);

}  // namespace fuselage
