#pragma once

#include <cstdint>

#include "fuselage/graph/graph.h"

namespace fuselage {

/// A valid graph with all row-wise ops, attention, loops over source positions in both directions
/// and a decoder step with states, put together at random. It also has what passes look for:
/// computations done twice, factors of one, parts of concatenations, dead code.
Graph random_graph(std::uint64_t seed);

}  // namespace fuselage
