#pragma once

#include <memory>

#include "backends/executable.h"

namespace fuselage {

/// An executable that interprets `graph` as it stands, in float. Slow; the oracle of the others.
std::unique_ptr<Executable> compile_reference(Graph graph, TensorMap weights);

}  // namespace fuselage
