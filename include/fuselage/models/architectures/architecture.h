#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/base/tensor.h"
#include "fuselage/models/architectures/model_options.h"
#include "fuselage/models/architectures/parameters.h"
#include "fuselage/models/model.h"

namespace FUSELAGE_API fuselage {

/// An architecture: the equations of a family of models.
struct ArchitectureDef {
  /// As in `type` of a Marian configuration and `architecture` of a model directory.
  std::string name = {};
  std::string summary = {};  ///< one line for the documentation
  /// Adds the model to the builder of `parameters`, with the outputs that Model describes. Reads
  /// all options that it knows. Throws Error for options that it does not support.
  std::function<void(Parameters& parameters, const ModelOptions& options)> build = {};
  /// Who registered it: "the extension FILE" or "this program"; empty for those of the tree.
  /// register_architecture sets it.
  std::string registered_by = {};
};

/// Adds an architecture for loaders and build_model. Thread-safe, and possible during the static
/// initialization of another library. Throws Error for a name that is empty or taken, and without a
/// summary or a function.
void register_architecture(ArchitectureDef architecture);

/// The names of all architectures: Marian's types, such as s2s and transformer, then registered
/// ones.
std::vector<std::string> architecture_names();

/// The architecture `name`. Throws Error with the nearest name and all names if there is none.
const ArchitectureDef& find_architecture(std::string_view name);

/// Builds a model from its options and weights; the graph is called `name`. Throws Error, with
/// options.where(), for an unknown architecture, for options that are unknown or not supported, and
/// for weights that are missing, left over or of another shape.
Model build_model(std::string_view architecture, const ModelOptions& options,
                  const TensorMap& weights, const std::string& name = "model");

/// The same with random weights (see Parameters); options then state all sizes, such as dim-vocabs.
Model build_random_model(std::string_view architecture, const ModelOptions& options,
                         std::uint64_t seed, const std::string& name = "model");

}  // namespace fuselage
