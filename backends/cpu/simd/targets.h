#pragma once

// Included before any Highway header. Two levels are disabled, so that there are fewer to build and
// test: AVX3_DL, from whose instructions these kernels gain nothing, and SSSE3, which processors
// without SSE4 need, of 2009 and before; they run the scalar level.
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SSSE3)

/// Ends the file of a family (table.h), which Highway includes once per target: defines `fill`,
/// which calls the version of the chosen target.
#define FUSELAGE_DISPATCH_FAMILY(fill)                                                \
  namespace fuselage::cpu {                                                           \
  namespace {                                                                         \
  HWY_EXPORT(fill);                                                                   \
  }                                                                                   \
  std::int64_t fill(KernelTable& table) { return HWY_DYNAMIC_DISPATCH(fill)(table); } \
  }
