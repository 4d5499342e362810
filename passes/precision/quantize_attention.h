#pragma once

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Stores the keys and values of a decoder's dot-product attention as qint8, a vector for each head
/// of a row, and its queries as qint16. They are read again in every step, so a quarter of the
/// bytes come from the caches. Attention whose left rows are all known with the source text reads
/// its keys once and stays as it is.
Pass quantize_attention();

}  // namespace fuselage
