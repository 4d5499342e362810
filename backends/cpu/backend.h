#pragma once

#include "backends/backend.h"

namespace fuselage {

/// The back-end for the processors of this machine, which compile_cpu lowers to.
const Backend& cpu_backend();

}  // namespace fuselage
