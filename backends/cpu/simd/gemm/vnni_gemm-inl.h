// Products by every type of matrix, for one level with VNNI instructions. No guard: included once
// per level.
#include "backends/cpu/simd/gemm/products-inl.h"

namespace fuselage::cpu::HWY_NAMESPACE {

FUSELAGE_INSTANTIATE_PRODUCTS(FloatArithmetic, NoEpilogue);
FUSELAGE_INSTANTIATE_PRODUCTS(BFloat16Arithmetic, NoEpilogue);
FUSELAGE_INSTANTIATE_PRODUCTS(Int8Arithmetic, NoEpilogue);
FUSELAGE_INSTANTIATE_PRODUCTS(Int16Arithmetic, NoEpilogue);
FUSELAGE_INSTANTIATE_PRODUCTS(Log4Arithmetic, NoEpilogue);

}  // namespace fuselage::cpu::HWY_NAMESPACE
