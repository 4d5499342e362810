#pragma once

#include "fuselage/base/dtype.h"
#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Keeps the keys and values of a decoder's dot-product attention in 16-bit floats of type `to`, by
/// nodes of their own, for back-ends with kernels for them: every step reads them again, in half
/// the bytes. round_rows() then rounds those of generated words where they are kept.
Pass round_attention(DType to);

}  // namespace fuselage
