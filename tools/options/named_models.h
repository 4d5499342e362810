#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "models/model.h"
#include "tools/options/options.h"

namespace fuselage {

/// The models that the options of a command name.
struct ModelChoice {
  std::vector<std::string> paths;  ///< none: the bundled model; several: an ensemble
  std::vector<double> weights;     ///< of the models' scores; none: 1 each
  bool ignore_unknown = false;
  bool no_verify = false;

  /// Registers the options; `names` are those of the paths, as CLI11 takes them.
  void add_to(CLI::App& app, const std::string& names);
};

/// What they are together.
struct NamedModel {
  Model model;
  /// Defaults for decoding: values of options by their long names.
  std::map<std::string, std::string> decode_options;
  std::string path;                ///< those of an ensemble with ", " between them
  std::vector<std::string> files;  ///< that it was read from
};

/// Tells, by the long name of an option, that the default which a model brings for it does not
/// count.
using IsDecided = std::function<bool(const std::string&)>;

/// True for what was given on the command line or in a configuration, and for what the command does
/// not have.
IsDecided decided_by(Options& options);

/// Loads them, the bundled model when none is named, and makes an ensemble of several. With
/// `own_vocabularies`, those of the models do not count. Throws Error for what cannot be loaded,
/// when the number of weights is another one, when members of an ensemble do not fit, and when they
/// bring different defaults for an option that is not decided.
NamedModel load_named_models(const ModelChoice& choice, bool own_vocabularies,
                             const IsDecided& is_decided);

}  // namespace fuselage
