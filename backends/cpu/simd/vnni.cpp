#define FUSELAGE_VNNI_INCLUDE "backends/cpu/simd/product_level-inl.h"
#include "backends/cpu/simd/foreach_vnni-inl.h"
#include "backends/cpu/simd/table.h"

bool fuselage::cpu::fill_vnni([[maybe_unused]] std::int64_t target,
                              [[maybe_unused]] KernelTable& table) {
#if HWY_TARGETS & HWY_AVX2
  if (target == HWY_AVX2) return N_AVX2_VNNI::set_products(table), true;
#endif
#if HWY_TARGETS & HWY_AVX3
  if (target == HWY_AVX3) return N_AVX3_VNNI::set_products(table), true;
#endif
  return false;
}
