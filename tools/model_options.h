#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/compile.h"
#include "decoding/batching.h"
#include "decoding/vocabulary_pair.h"
#include "models/load_model.h"
#include "tools/options.h"

namespace fuselage {

/// What all commands that run a model have in common.
struct ModelOptions {
  std::vector<std::string> models, configs;
  VocabularyPairOptions vocabularies;
  bool no_spm_encode = false, no_spm_decode = false;
  CompileOptions compile;
  bool ignore_unknown_config = false;
  std::string output = "stdout";
  bool quiet = false;
  bool strict = false;
  std::size_t max_length = 1000;
  bool max_length_crop = false;
  std::size_t threads = 1;
  BatchOptions batches;
  std::string maxi_batch_sort = "none";

  /// Registers the options that name model and vocabularies.
  void add_model_to(Options& options);
  /// Registers those that say how to run it.
  void add_running_to(Options& options);
  /// Reads the configuration files and draws together what the options say.
  void finish(Options& options);
  /// Loads the model, the bundled one when none is named, whose decoding defaults become those of
  /// `options`.
  Model load(Options& options);
};

/// Loads the model that `models` names, the bundled one when it is empty; `path` becomes its path.
LoadedModel load_named_model(const std::vector<std::string>& models, bool ignore_unknown,
                             std::string& path);

/// Registers the options that say what the optimizer does.
void add_optimizer_options(CLI::App& app, CompileOptions& compile);

/// Prints "fuselage: note: …" on standard error.
void print_note(std::string_view note);

/// Value of an option like --normalize, for which no value means `bare`. Throws Error naming the
/// option when it is no number.
double number_or(const std::string& text, double bare, std::string_view option);

}  // namespace fuselage
