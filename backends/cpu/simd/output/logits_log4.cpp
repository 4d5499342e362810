// Logits by a matrix in logarithmic int4.
#include <cstddef>

#include "backends/cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd/output/logits_log4.cpp"
#include "hwy/foreach_target.h"
// Compiled once per target: included after foreach_target.h.
#include "backends/cpu/simd/gemm/products-inl.h"
#include "backends/cpu/simd/output/logits-inl.h"

namespace fuselage::cpu::HWY_NAMESPACE {

FUSELAGE_INSTANTIATE_PRODUCTS(Log4Arithmetic, LogitEpilogue);

}  // namespace fuselage::cpu::HWY_NAMESPACE
