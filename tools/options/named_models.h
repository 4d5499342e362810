#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fuselage/models/load_model.h"
#include "fuselage/models/model.h"
#include "tools/options/options.h"

namespace fuselage {

/// Registers the option for libraries that register ops, passes, kernels and architectures.
void add_extension_option(CLI::App& app, std::vector<std::string>& extensions);

/// The models given by the options of a command.
struct ModelChoice {
  std::vector<std::string> paths;       ///< empty: the bundled model; several: an ensemble
  std::vector<double> weights;          ///< factors of the models' log-probabilities; empty: 1 each
  std::vector<std::string> extensions;  ///< loaded before the models
  bool ignore_unknown = false;
  bool no_verify = false;
  std::optional<Calibration> calibration = {};
  std::optional<std::uint64_t> random_weights = {};
  /// Languages of the text and its translation, which also choose among the bundled models.
  std::string source_language, target_language;

  /// Registers the options; `names` are CLI11's names of the option for paths.
  void add_to(CLI::App& app, const std::string& names);
};

/// The model or the ensemble of a ModelChoice.
struct NamedModel {
  Model model;
  std::string path;                ///< path; for an ensemble the paths, separated by ", "
  std::vector<std::string> files;  ///< files that the model was read from
};

/// Whether a model's default for an option, given by its long name, is ignored.
using IsDecided = std::function<bool(const std::string&)>;

/// True for options that were given on the command line or in a configuration, and for options that
/// the command does not have.
IsDecided decided_by(Options& options);

/// Loads the extensions, then the models, by default the bundled model, and makes an ensemble of
/// several. With `own_vocabularies`, the models' vocabularies are ignored. Throws Error for a model
/// that cannot be loaded, a wrong number of weights, members that do not match, and members with
/// different defaults for an option unless `is_decided`.
NamedModel load_named_models(const ModelChoice& choice, bool own_vocabularies,
                             const IsDecided& is_decided);

}  // namespace fuselage
