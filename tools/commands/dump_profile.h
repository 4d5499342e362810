#pragma once

#include <string>
#include <vector>

#include "backends/executable.h"
#include "decoding/beam_search.h"
#include "decoding/vocabulary_pair.h"
#include "models/model.h"

namespace fuselage {

/// A text to translate, so that time can be measured.
struct ProfileInput {
  std::vector<WordIds> sentences;
  SearchOptions search;
};

/// Reads the text at `path`, a sentence a line, as `model` reads it; empty lines are left out.
/// Throws Error when nothing is left.
ProfileInput read_profile_input(const Model& model, const VocabularyPairOptions& vocabularies,
                                const std::string& path, std::int32_t beam_size);

/// Translates it in batches of `mini_batch` sentences. The workers of `executable` measure.
void run_profile(const Executable& executable, const ProfileInput& input, std::size_t mini_batch);

}  // namespace fuselage
