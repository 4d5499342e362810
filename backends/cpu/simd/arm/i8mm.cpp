#define FUSELAGE_DOTPROD
#define FUSELAGE_I8MM
#include "backends/cpu/simd/arm/level-inl.h"
#include "backends/cpu/simd/table.h"

bool fuselage::cpu::fill_i8mm([[maybe_unused]] std::int64_t target,
                              [[maybe_unused]] KernelTable& table) {
#ifdef FUSELAGE_ARM_LEVEL
  if (target == HWY_STATIC_TARGET) return FUSELAGE_ARM_LEVEL::set_products(table), true;
#endif
  return false;
}
