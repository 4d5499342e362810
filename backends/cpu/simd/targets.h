#pragma once

// Included before any Highway header. AVX3_DL stays off: its extra instructions bring these float
// kernels nothing, and one level fewer is built and tested.
#define HWY_DISABLED_TARGETS HWY_AVX3_DL

/// Ends the file of a family (table.h), which Highway includes once a target: defines `fill`, which
/// calls that of the chosen target.
#define FUSELAGE_DISPATCH_FAMILY(fill)                                                \
  namespace fuselage::cpu {                                                           \
  namespace {                                                                         \
  HWY_EXPORT(fill);                                                                   \
  }                                                                                   \
  std::int64_t fill(KernelTable& table) { return HWY_DYNAMIC_DISPATCH(fill)(table); } \
  }
