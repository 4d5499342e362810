#pragma once

#include <span>
#include <string>

#include "fuselage/models/architectures/model_options.h"
#include "fuselage/models/architectures/parameters.h"

namespace fuselage {

/// A class of models of Hugging Face's Transformers with the equations of T5 (Raffel et al. 2020,
/// section 2.1).
struct T5Class {
  std::string name;          ///< "T5ForConditionalGeneration"
  std::string summary;       ///< one line for the documentation
  std::string feed_forward;  ///< where feed_forward_proj is not stated
  /// What is multiplied by the output matrix is scaled by 1 / √d_model, unless the options say
  /// otherwise.
  bool scales_output = true;
  bool positions_in_each = false;  ///< each layer has its own table of relative positions
};

/// The classes, for the registry of architectures.
std::span<const T5Class> t5_classes();

/// Adds a model of a class to the builder of `parameters`, under the names of its checkpoints and
/// with the options of its config.json. The loader makes the parameter kDecoderStart.
void build_t5(Parameters& parameters, const ModelOptions& options, const T5Class& kind);

}  // namespace fuselage
