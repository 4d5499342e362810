#pragma once

#include "backends/backend.h"

namespace fuselage {

/// The oracle of the others: interprets a graph as it stands, in float and op by op. Slow.
const Backend& reference_backend();

/// Its executable, for tests that take no passes. All workers tell `observer`, if there is one.
std::unique_ptr<Executable> compile_reference(Graph graph, TensorMap weights,
                                              NodeObserver observer = nullptr);

}  // namespace fuselage
