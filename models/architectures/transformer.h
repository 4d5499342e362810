#pragma once

#include <string>
#include <vector>

#include "models/architectures/seq2seq.h"

namespace fuselage {

/// Throws Error for options that a transformer's encoder or decoder does not support.
void check_transformer(const MarianOptions& options);

/// Marian's transformer encoder (Vaswani et al. 2017) of source text `text` (from 0), whose
/// parameters begin with `prefix`. `embedding` has a row for each source token, the result too.
Expr transformer_encoder(Parameters& parameters, const MarianOptions& options,
                         const std::string& prefix, std::size_t text, Expr embedding);

/// Marian's transformer decoder with self-attention, average attention or a recurrent cell, and
/// attention to each of `contexts` in turn. Adds the outputs "logits" and "alignment" to the
/// builder of `parameters`; the alignment is that with the first text.
void transformer_decoder(Parameters& parameters, const MarianOptions& options,
                         Vocabularies& vocabularies, const std::vector<Expr>& contexts);

}  // namespace fuselage
