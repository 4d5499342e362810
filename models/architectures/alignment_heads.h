#pragma once

#include <cstdint>
#include <vector>

#include "fuselage/models/architectures/model_options.h"
#include "fuselage/ops/builder.h"

namespace fuselage {

/// The attention of a decoder to the source that is the alignment: a layer, and the heads whose
/// mean is taken; none: all.
struct AlignmentHeads {
  std::int64_t layer = 0;
  std::vector<std::int64_t> heads;
};

/// The choice of the options alignment_layer and alignment_heads, counted from 0, else `defaults`.
/// Throws Error for a layer or a head that a decoder of `layers` layers of `heads` heads lacks.
AlignmentHeads alignment_heads(const ModelOptions& options, std::int64_t layers, std::int64_t heads,
                               const AlignmentHeads& defaults);

/// The output "alignment" of attention weights [heads] of pairs.
void add_alignment(Builder& builder, Expr weights, const AlignmentHeads& chosen);

}  // namespace fuselage
