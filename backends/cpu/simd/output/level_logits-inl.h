// Logits by every type of matrix, for one level with instructions for integer products. No guard:
// included once per level.
#include "backends/cpu/simd/gemm/products-inl.h"
#include "backends/cpu/simd/output/logits-inl.h"

namespace fuselage::cpu::HWY_NAMESPACE {

FUSELAGE_INSTANTIATE_PRODUCTS(FloatArithmetic, LogitEpilogue);
FUSELAGE_INSTANTIATE_PRODUCTS(BFloat16Arithmetic, LogitEpilogue);
FUSELAGE_INSTANTIATE_PRODUCTS(Int8Arithmetic, LogitEpilogue);
FUSELAGE_INSTANTIATE_PRODUCTS(Int16Arithmetic, LogitEpilogue);
FUSELAGE_INSTANTIATE_PRODUCTS(Log4Arithmetic, LogitEpilogue);

}  // namespace fuselage::cpu::HWY_NAMESPACE
