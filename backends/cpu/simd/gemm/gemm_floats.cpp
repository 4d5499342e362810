// Products by a matrix in floats and bf16.
#include <cstddef>

#include "backends/cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd/gemm/gemm_floats.cpp"
#include "hwy/foreach_target.h"
// Compiled once per target: included after foreach_target.h.
#include "backends/cpu/simd/gemm/products-inl.h"

namespace fuselage::cpu::HWY_NAMESPACE {

FUSELAGE_INSTANTIATE_PRODUCTS(FloatArithmetic, GemmEpilogue);
FUSELAGE_INSTANTIATE_PRODUCTS(BFloat16Arithmetic, GemmEpilogue);

}  // namespace fuselage::cpu::HWY_NAMESPACE
