#pragma once

#include "fuselage/base/tensor.h"
#include "models/architectures/marian_options.h"

namespace fuselage {

/// Whether these tensors have Nematus's parameter names.
bool has_nematus_names(const TensorMap& stored);

/// Marian stores models of its types amun and nematus under Nematus's parameter names. Returns the
/// tensors under the names of type s2s, without Nematus's bookkeeping. Tensors under Marian's names
/// (without "decoder_c_tt") are returned unchanged.
TensorMap rename_nematus_parameters(const TensorMap& stored, const MarianOptions& options);

}  // namespace fuselage
