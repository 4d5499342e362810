// Products by a matrix in integers.
#include <cstddef>

#include "backends/cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd/gemm/gemm_integers.cpp"
#include "hwy/foreach_target.h"
// Compiled once per target: included after foreach_target.h.
#include "backends/cpu/simd/gemm/products-inl.h"

namespace fuselage::cpu::HWY_NAMESPACE {

FUSELAGE_INSTANTIATE_PRODUCTS(Int8Arithmetic, GemmEpilogue);
FUSELAGE_INSTANTIATE_PRODUCTS(Int16Arithmetic, GemmEpilogue);
FUSELAGE_INSTANTIATE_PRODUCTS(Log4Arithmetic, GemmEpilogue);

}  // namespace fuselage::cpu::HWY_NAMESPACE
