// To be included by a .cpp file that compiles kernels for a level of ARM64 with instructions for
// products of bytes, which is not a Highway target: NEON with FUSELAGE_DOTPROD, or also
// FUSELAGE_I8MM. One file a level, since Highway's operations of a target can be included only
// once. Code that uses them is in a namespace of the level, as in foreach_vnni-inl.h. Defines
// FUSELAGE_ARM_LEVEL, that namespace, unless the compiler is another than g++: clang 14 knows no
// such target of a function.
#pragma once

#include "backends/cpu/simd/targets.h"
#include "hwy/detect_targets.h"

#if HWY_ARCH_ARM_A64 && HWY_COMPILER_GCC_ACTUAL
// NOLINTBEGIN(readability-identifier-naming): as Highway names them
#include "hwy/highway.h"
#ifdef FUSELAGE_I8MM
#define FUSELAGE_ARM_LEVEL N_NEON_I8MM
#define FUSELAGE_ARM_TARGET "arch=armv8.2-a+dotprod+i8mm"
#else
#define FUSELAGE_ARM_LEVEL N_NEON_DOTPROD
#define FUSELAGE_ARM_TARGET "arch=armv8.2-a+dotprod"
#endif
namespace hwy {
namespace FUSELAGE_ARM_LEVEL = HWY_NAMESPACE;
}
#undef HWY_NAMESPACE
#define HWY_NAMESPACE FUSELAGE_ARM_LEVEL
#undef HWY_BEFORE_NAMESPACE
#define HWY_BEFORE_NAMESPACE()             \
  HWY_PUSH_ATTRIBUTES(FUSELAGE_ARM_TARGET) \
  static_assert(true)
#undef HWY_AFTER_NAMESPACE
#define HWY_AFTER_NAMESPACE() \
  HWY_POP_ATTRIBUTES          \
  static_assert(true)
#undef HWY_ATTR
#define HWY_ATTR __attribute__((target(FUSELAGE_ARM_TARGET)))
// NOLINTEND(readability-identifier-naming)
#include "backends/cpu/simd/gemm/level_gemm-inl.h"
#include "backends/cpu/simd/output/level_logits-inl.h"
#include "backends/cpu/simd/product_level-inl.h"
#endif
