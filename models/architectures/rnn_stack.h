#pragma once

#include "fuselage/models/architectures/model_options.h"
#include "fuselage/models/architectures/parameters.h"

namespace fuselage {

/// A recurrent encoder-decoder whose layers are listed by its options, for the models of papers:
/// Devlin 2017 ("Sharp Models on Dull Hardware", table 3), Quinn and Ballesteros 2018 ("Pieces of
/// Eight"), Amun (WNMT 2018). Adds the outputs "logits" and "alignment" to the builder of
/// `parameters`. docs/model-formats.md has the options and the names of the parameters. Throws
/// Error for options that describe no such model.
void build_rnn_stack(Parameters& parameters, const ModelOptions& options);

}  // namespace fuselage
