#pragma once

// Included before any Highway header. Two levels of x86 are disabled, so that there are fewer to
// build and test: AVX3_DL, from whose instructions these kernels gain nothing, and SSSE3, which
// processors without SSE4 need, of 2009 and before; they run the scalar level. Of ARM64 there is
// NEON alone: SVE's vectors have no size at compile time, so they cannot be members and elements of
// arrays, as sums are here. Processors with SVE run NEON, most of them at the same width.
#define HWY_DISABLED_TARGETS \
  (HWY_AVX3_DL | HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)

// Without it Highway compiles NEON with the cryptographic extension, which some processors lack and
// with which g++ inlines no vector into the constructors that it makes itself.
#ifdef __aarch64__
#define TOOLCHAIN_MISS_SYS_AUXV_H
#endif

/// Ends the file of a family (table.h), which Highway includes once per target: defines `fill`,
/// which calls the version of the chosen target.
#define FUSELAGE_DISPATCH_FAMILY(fill)                                                \
  namespace fuselage::cpu {                                                           \
  namespace {                                                                         \
  HWY_EXPORT(fill);                                                                   \
  }                                                                                   \
  std::int64_t fill(KernelTable& table) { return HWY_DYNAMIC_DISPATCH(fill)(table); } \
  }
