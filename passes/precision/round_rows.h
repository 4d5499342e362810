#pragma once

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Rounds the rows of products with bf16 and f16 matrices by nodes of their own, for back-ends
/// whose products round them: a node is shared by all products of its rows, and what computes the
/// rows may round them (fuse_quantize). What is rounded of all words so far is rounded where it is
/// kept.
Pass round_rows();

}  // namespace fuselage
