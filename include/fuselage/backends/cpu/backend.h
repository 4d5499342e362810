#pragma once

#include "fuselage/backends/backend.h"
#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// The back-end for the processors of this machine; it compiles with compile_cpu.
const Backend& cpu_backend();

}  // namespace fuselage
