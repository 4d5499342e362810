#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "base/quantized.h"
#include "graph/graph.h"

namespace fuselage {

/// What the attributes of a `quantize` node say, or of another that gives quantized vectors. A
/// scale may be given as the second operand of `quantize`.
Quantizer quantizer_of(const Node& node);

/// The attributes that say so.
AttrList quantizer_attributes(const Quantizer& quantizer);

// A fused op may quantize what it computes: its attribute `quantized` lists results of which it
// gives the vectors as `quantize` would, each as a further result behind all others.

/// `attributes` and those that such an op has besides.
std::vector<AttrSpec> with_quantized_results(std::vector<AttrSpec> attributes);

/// Whether the op of a node can do so.
bool may_quantize_results(const Node& node);

/// The results that a node quantizes, as numbers of results; empty where its op cannot.
Dims quantized_results(const Node& node);

}  // namespace fuselage
