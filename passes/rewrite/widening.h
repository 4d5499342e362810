#pragma once

#include "fuselage/passes/rewrite/pattern.h"

namespace fuselage {

/// Whether a node converts 16-bit floats to f32.
bool is_widening(const Graph& graph, const Node& node);

namespace match {

/// The conversion of 16-bit floats, which are captured, to f32.
Pattern widened(Capture halves);

}  // namespace match

}  // namespace fuselage
