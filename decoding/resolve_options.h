#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fuselage/backends/executable.h"
#include "fuselage/decoding/generator.h"
#include "fuselage/decoding/repetition.h"
#include "fuselage/decoding/scorer.h"
#include "fuselage/decoding/translator.h"
#include "fuselage/models/model.h"

namespace fuselage {

/// The options with a value in place of each unset member: the model's, else marian-decoder's, or
/// those that GeneratorOptions states.
/// Members of BatchOptions that neither states stay unset. A number of 0 threads becomes the number
/// that it stands for, for a GPU by take_over(). Throws Error for a number out of range.
TranslatorOptions resolved(TranslatorOptions options, const Model& model);
GeneratorOptions resolved(GeneratorOptions options, const Model& model);
ScorerOptions resolved(ScorerOptions options, const Model& model);

/// The measures against repetitions that resolved options state, in range.
template <typename Options>
Repetition repetition_of(const Options& options) {
  return {.penalty = options.repetition_penalty.value_or(1.0f),
          .no_repeat_ngram_size = options.no_repeat_ngram_size.value_or(0)};
}

/// Adds the notes of an executable and of its options, and replaces 0 threads by the executable's
/// number.
void take_over(const Executable& executable, const CompileOptions& compile, std::size_t& threads,
               std::vector<std::string>& notes);

/// Workers of a call with `threads` threads for each device.
std::size_t workers_of(std::size_t threads, const Executable& executable);

}  // namespace fuselage
