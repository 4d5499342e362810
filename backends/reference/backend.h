#pragma once

#include "fuselage/backends/backend.h"

namespace fuselage {

/// The oracle for tests: interprets a graph op by op in float. Slow.
const Backend& reference_backend();

/// Its executable without passes, for tests. All workers call `observer`, if there is one.
std::unique_ptr<Executable> compile_reference(Graph graph, TensorMap weights,
                                              NodeObserver observer = nullptr);

}  // namespace fuselage
