#pragma once

#include "backends/backend.h"

namespace fuselage {

/// The back-end for the processors of this machine; it compiles with compile_cpu.
const Backend& cpu_backend();

}  // namespace fuselage
