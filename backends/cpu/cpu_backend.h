#pragma once

#include <memory>

#include "backends/executable.h"
#include "passes/split_by_binding_time.h"

namespace fuselage {

/// Lowers the three programs of a model to the CPU: runs the load program, packs weights for the
/// active instruction set (see isa.h) and plans the others. Steps allocate nothing as long as every
/// node has a kernel of its own. A row's result does not depend on the other rows of its batch.
std::unique_ptr<Executable> compile_cpu(const Programs& programs, const TensorMap& weights);

}  // namespace fuselage
