// Logits by a matrix in int8.
#include <cstddef>

#include "backends/cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd/output/logits_int8.cpp"
#include "hwy/foreach_target.h"
// Compiled once a target, so after that.
#include "backends/cpu/simd/output/logit_products-inl.h"

namespace fuselage::cpu::HWY_NAMESPACE {

template void multiply_logits<Int8Arithmetic>(const RowsIn&, std::size_t, const PackedMatrix&,
                                              std::size_t, std::size_t, const RowsOut&,
                                              const LogitEpilogue&);

}  // namespace fuselage::cpu::HWY_NAMESPACE
