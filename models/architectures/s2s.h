#pragma once

#include <string>
#include <vector>

#include "models/architectures/seq2seq.h"

namespace fuselage {

/// Throws Error for options that a recurrent encoder or decoder does not support.
void check_s2s(const MarianOptions& options);

/// Marian's recurrent encoder of source text `text` (from 0), whose parameters begin with `prefix`.
/// `embedding` has a row for each source token, the result too.
Expr s2s_encoder(Parameters& parameters, const MarianOptions& options, const std::string& prefix,
                 std::size_t text, Expr embedding);

/// Marian's recurrent decoder with attention to each of `contexts` (Bahdanau et al. 2015 with the
/// conditional GRU of Sennrich et al. 2017). Adds the outputs "logits" and "alignment" to the
/// builder of `parameters`; the alignment is that with the first text.
void s2s_decoder(Parameters& parameters, const MarianOptions& options, Vocabularies& vocabularies,
                 const std::vector<Expr>& contexts);

}  // namespace fuselage
