#pragma once

// Included before any Highway header. AVX3_DL is disabled: these kernels gain nothing from its
// instructions, and there is one level fewer to build and test.
#define HWY_DISABLED_TARGETS HWY_AVX3_DL

/// Ends the file of a family (table.h), which Highway includes once per target: defines `fill`,
/// which calls the version of the chosen target.
#define FUSELAGE_DISPATCH_FAMILY(fill)                                                \
  namespace fuselage::cpu {                                                           \
  namespace {                                                                         \
  HWY_EXPORT(fill);                                                                   \
  }                                                                                   \
  std::int64_t fill(KernelTable& table) { return HWY_DYNAMIC_DISPATCH(fill)(table); } \
  }
