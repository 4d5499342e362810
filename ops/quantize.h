#pragma once

#include "base/quantized.h"
#include "graph/graph.h"

namespace fuselage {

/// What a `quantize` node's attributes say; a scale may be given as its second operand.
Quantizer quantizer_of(const Node& node);

}  // namespace fuselage
