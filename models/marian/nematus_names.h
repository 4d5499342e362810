#pragma once

#include "base/tensor.h"
#include "models/architectures/marian_options.h"

namespace fuselage {

/// Models of Marian's types amun and nematus are stored under the names that Nematus gave its
/// parameters. Returns the tensors under the names of type s2s, without Nematus's bookkeeping.
/// Files whose names are Marian's already (they lack "decoder_c_tt") come back as they are.
TensorMap rename_nematus_parameters(const TensorMap& stored, const MarianOptions& options);

}  // namespace fuselage
