#pragma once

#include "fuselage/models/architectures/parameters.h"
#include "models/architectures/marian_options.h"

namespace fuselage {

/// Adds Marian's type transformer (Vaswani et al. 2017), with a self-attention or an SSRU decoder,
/// to the builder of `parameters`. Outputs "logits" and "alignment". Throws Error for unsupported
/// options.
void build_transformer(Parameters& parameters, const MarianOptions& options);

}  // namespace fuselage
