#include "backends/cpu/simd/table.h"
#include "fuselage/backends/cpu/runtime/operands.h"

namespace fuselage::cpu {

const SimdFunctions& simd_functions(const Run& run) { return run.kernels; }

}  // namespace fuselage::cpu
