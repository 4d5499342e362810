// Products by every type of matrix, for one level with instructions for integer products. No guard:
// included once per level.
#include "backends/cpu/simd/gemm/products-inl.h"

namespace fuselage::cpu::HWY_NAMESPACE {

FUSELAGE_INSTANTIATE_PRODUCTS(FloatArithmetic, GemmEpilogue);
FUSELAGE_INSTANTIATE_PRODUCTS(BFloat16Arithmetic, GemmEpilogue);
FUSELAGE_INSTANTIATE_PRODUCTS(Int8Arithmetic, GemmEpilogue);
FUSELAGE_INSTANTIATE_PRODUCTS(Int16Arithmetic, GemmEpilogue);
FUSELAGE_INSTANTIATE_PRODUCTS(Log4Arithmetic, GemmEpilogue);

}  // namespace fuselage::cpu::HWY_NAMESPACE
