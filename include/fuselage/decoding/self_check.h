#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fuselage/backends/compare_with_reference.h"
#include "fuselage/backends/compile_options.h"
#include "fuselage/base/api.h"
#include "fuselage/decoding/vocabulary_options.h"
#include "fuselage/models/model.h"
#include "fuselage/models/probes.h"

namespace FUSELAGE_API fuselage {

// The self-check of a model. Probes are lines with the greedy translation and its word scores in
// fp32. They are made where a model is known to work, and checked wherever it runs later: in
// another precision, on another device, from another file.

/// Maximum number of lines of probes.
inline constexpr std::size_t kMaxProbeLines = 200;

/// Probes of a model: the words and scores for `lines`, or without lines for eight lines of random
/// words of its source vocabularies, always the same. A language model continues them as prompts.
/// Shortlists do not take part. Throws Error for too many lines, for lines without words, and as
/// Translator does.
Probes make_probes(const Model& model, std::vector<std::string> lines = {},
                   const VocabularyPairOptions& vocabularies = {});

/// How much a model gains from the sources of given translations: their mean log-probability a word
/// in fp32, less the same with the source of the next line in the place of each line's own. About 0
/// if the vocabulary of source or target is not the model's, or if the model has not learnt to
/// translate. Throws Error for fewer than two lines, and as Scorer does.
double gain_from_source(const Model& model, const std::vector<std::string>& sources,
                        const std::vector<std::string>& translations,
                        const VocabularyPairOptions& vocabularies = {});

/// The smallest gain of a model that fits its vocabularies.
inline constexpr double kLeastGain = 0.25;

/// What may be different for a model to pass its check.
struct CheckLimits {
  /// Largest difference of a word's score; infinity: any.
  double largest_drift;
  /// Largest mean of these differences.
  double mean_drift;
  /// A translation may become another one only where the best words' scores are closer than this;
  /// infinity: anywhere.
  double tie;
};

/// The limits for a model with these options: strict where nothing is rounded, else by the format
/// with the fewest bits; docs/check-a-model.md has the measurements. `compile` has values.
CheckLimits check_limits(const Model& model, const CompileOptions& compile);

/// One probe, run again.
struct ProbeCheck {
  bool same_words = false;  ///< the translation is the stored one
  bool same_text = false;   ///< the stored words stand for the stored text
  /// Where the translations part, the difference of scores of their words; 0 if they do not.
  double lead = 0;
  double mean_drift = 0, largest_drift = 0;  ///< differences of the scores of the stored words
};

/// The check of a model with one set of options.
struct CheckResult {
  CompileOptions compile;  ///< precision, activations and kv_cache have values
  CheckLimits limits;
  std::vector<ProbeCheck> probes;
  double mean_drift = 0, largest_drift = 0;  ///< per word, of all probes
  std::size_t same_words() const;
  /// Why the check fails; empty if all is within the limits.
  std::vector<std::string> failures() const;
};

/// Settings of check_probes.
struct CheckOptions {
  VocabularyPairOptions vocabularies = {};
  CompileOptions compile = {};  ///< unset members have the model's values
};

/// Runs the probes of a model again. Throws Error for a model without probes, for probes that are
/// not its own (words beyond its vocabulary), and as Translator does.
CheckResult check_probes(const Model& model, const CheckOptions& options = {});

/// Precisions to check unless a user chooses: fp32 for a model with f32 weights only, and its own.
std::vector<Precision> precisions_to_check(const Model& model);

/// The first node whose results differ from the interpreter's.
struct Bisection {
  NodeComparison comparison;
  std::size_t steps = 0;  ///< words of the translations after which the first difference is seen
};

/// Runs the first probes on the back-end of `options` and on the interpreter, node by node, along
/// the stored words, and finds the first step and in it the first node that differs. Throws Error
/// as check_probes does.
Bisection bisect_probes(const Model& model, const CheckOptions& options = {},
                        const NodeTolerances& tolerances = {});

}  // namespace fuselage
