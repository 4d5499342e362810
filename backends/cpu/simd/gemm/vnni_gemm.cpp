#define FUSELAGE_VNNI_INCLUDE "backends/cpu/simd/gemm/level_gemm-inl.h"
#include "backends/cpu/simd/foreach_vnni-inl.h"
