// Logits by every type of matrix, for AVX-512-VNNI.
#include <cstddef>

#include "backends/cpu/simd/targets.h"
#include "hwy/detect_targets.h"

#if HWY_TARGETS & HWY_AVX3

#include "backends/cpu/simd/gemm/vnni-inl.h"
// Included after vnni-inl.h, which selects the target.
#include "backends/cpu/simd/gemm/products-inl.h"
#include "backends/cpu/simd/output/logits-inl.h"

namespace fuselage::cpu::HWY_NAMESPACE {

FUSELAGE_INSTANTIATE_PRODUCTS(FloatArithmetic, LogitEpilogue);
FUSELAGE_INSTANTIATE_PRODUCTS(BFloat16Arithmetic, LogitEpilogue);
FUSELAGE_INSTANTIATE_PRODUCTS(Int8Arithmetic, LogitEpilogue);
FUSELAGE_INSTANTIATE_PRODUCTS(Int16Arithmetic, LogitEpilogue);
FUSELAGE_INSTANTIATE_PRODUCTS(Log4Arithmetic, LogitEpilogue);

}  // namespace fuselage::cpu::HWY_NAMESPACE

#endif
