#pragma once

#include <string>

#include "fuselage/base/tensor.h"
#include "fuselage/models/architectures/model_options.h"

namespace fuselage {

/// Throws Error, with options.where(), the value and the reason, for kinds of Marian's models that
/// have no counterpart here: types that are no architecture, factored vocabularies, embeddings for
/// several languages (ulr), and models of Marian's later layers. Other options are left to the
/// architecture.
void refuse_unsupported_model(const ModelOptions& options, const TensorMap& tensors);

}  // namespace fuselage
