#pragma once

#include "fuselage/models/architectures/model_options.h"
#include "fuselage/models/architectures/parameters.h"

namespace fuselage {

/// The encoder-decoder transformer of CTranslate2 (TransformerSpec), under the names of its
/// variables, with the outputs "logits" and "alignment". Matrices are [in, out], unlike
/// CTranslate2's. Biases, norms at the end and of embeddings, gates, and the kind of positions are
/// there if their parameters are; without stored ones positions are sinusoidal. The parameter
/// decoder/start_embedding is the embedding of the word that a decoder starts with.
void build_ctranslate2_transformer(Parameters& parameters, const ModelOptions& options);

}  // namespace fuselage
