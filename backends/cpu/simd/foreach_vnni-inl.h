// To be included by a .cpp file that compiles kernels for the levels with VNNI instructions, which
// are not Highway targets: AVX2 with AVX-VNNI, and AVX3 with AVX-512-VNNI. Includes
// FUSELAGE_VNNI_INCLUDE for each level, or with FUSELAGE_AMX for that of AVX3 with AMX alone, since
// Highway's operations of a target can be included only once. Code that uses them is in a namespace
// of the level, so that its functions are distinct from the target's own.
#pragma once

#include "backends/cpu/simd/targets.h"
#include "hwy/detect_targets.h"

#define FUSELAGE_VNNI

// NOLINTBEGIN(readability-identifier-naming): as Highway names them
#if (HWY_TARGETS & HWY_AVX2) && !defined(FUSELAGE_AMX)
#undef HWY_TARGET
#define HWY_TARGET HWY_AVX2
#include "hwy/highway.h"
#undef HWY_NAMESPACE
#define HWY_NAMESPACE N_AVX2_VNNI
#undef HWY_TARGET_STR
#define HWY_TARGET_STR HWY_TARGET_STR_AVX2 ",avxvnni"
namespace hwy {
namespace N_AVX2_VNNI = N_AVX2;
}
#include FUSELAGE_VNNI_INCLUDE

// Makes the headers that are compiled once per target visible again.
#ifdef HWY_TARGET_TOGGLE
#undef HWY_TARGET_TOGGLE
#else
#define HWY_TARGET_TOGGLE
#endif
#endif

#if HWY_TARGETS & HWY_AVX3
#undef HWY_TARGET
#define HWY_TARGET HWY_AVX3
#include "hwy/highway.h"
#undef HWY_NAMESPACE
#ifdef FUSELAGE_AMX
#define HWY_NAMESPACE N_AVX3_AMX
#else
#define HWY_NAMESPACE N_AVX3_VNNI
#endif
#undef HWY_TARGET_STR
#define HWY_TARGET_STR HWY_TARGET_STR_AVX3 ",avx512vnni"
namespace hwy {
namespace HWY_NAMESPACE = N_AVX3;
}
#include FUSELAGE_VNNI_INCLUDE
#endif
// NOLINTEND(readability-identifier-naming)
