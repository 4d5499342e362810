#include <cstdint>

#include "backends/cpu/simd/table.h"
#include "backends/cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd/output/output.cpp"
#include "hwy/foreach_target.h"
// Compiled once per target: included after foreach_target.h.
#include "backends/cpu/simd/output/output_family-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

std::int64_t fill_output(KernelTable& table) {
  set_output(table);
  return HWY_TARGET;
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
FUSELAGE_DISPATCH_FAMILY(fill_output)
#endif
