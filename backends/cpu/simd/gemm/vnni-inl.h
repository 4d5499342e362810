// To be included first by a .cpp file that compiles kernels for AVX3 with AVX-512-VNNI, which is
// not a Highway target. Operations are of AVX3; code that uses them is in namespace N_AVX3_VNNI, so
// that its functions are distinct from the AVX3 versions.
#pragma once

#include "backends/cpu/simd/targets.h"
#include "hwy/detect_targets.h"

#undef HWY_TARGET
#define HWY_TARGET HWY_AVX3
#include "hwy/highway.h"

#undef HWY_NAMESPACE
#define HWY_NAMESPACE N_AVX3_VNNI
#undef HWY_TARGET_STR
#define HWY_TARGET_STR HWY_TARGET_STR_AVX3 ",avx512vnni"
#define FUSELAGE_VNNI

namespace hwy {
namespace N_AVX3_VNNI = N_AVX3;  // NOLINT(readability-identifier-naming): as Highway names them
}
