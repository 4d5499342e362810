#pragma once

#include "fuselage/models/architectures/parameters.h"
#include "models/architectures/marian_options.h"

namespace fuselage {

/// Adds the recurrent encoder-decoder with attention of Marian's types s2s, amun and nematus
/// (Bahdanau et al. 2015 with the conditional GRU of Sennrich et al. 2017) to the builder of
/// `parameters`, under Marian's parameter names. Outputs "logits" and "alignment". Throws Error for
/// unsupported options.
void build_s2s(Parameters& parameters, const MarianOptions& options);

}  // namespace fuselage
