#pragma once

#include <functional>
#include <memory>

#include "backends/executable.h"
#include "ops/evaluate.h"

namespace fuselage {

/// Sees each node that is evaluated, with its operands and results.
using NodeObserver = std::function<void(const EvalContext<float>&)>;

/// An executable that interprets `graph` as it stands, in float. Slow; the oracle of the others.
/// All its workers tell `observer`, if there is one, which must stand several threads if they do.
std::unique_ptr<Executable> compile_reference(Graph graph, TensorMap weights,
                                              NodeObserver observer = nullptr);

}  // namespace fuselage
