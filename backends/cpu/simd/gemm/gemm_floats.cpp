// Products by a matrix in floats and bf16.
#include <cstddef>

#include "backends/cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd/gemm/gemm_floats.cpp"
#include "hwy/foreach_target.h"
// Compiled once a target, so after that.
#include "backends/cpu/simd/gemm/plain_products-inl.h"

namespace fuselage::cpu::HWY_NAMESPACE {

template void multiply_plainly<FloatArithmetic>(const RowsIn&, std::size_t, const PackedMatrix&,
                                                std::size_t, std::size_t, const RowsOut&);
template void multiply_plainly<BFloat16Arithmetic>(const RowsIn&, std::size_t, const PackedMatrix&,
                                                   std::size_t, std::size_t, const RowsOut&);

}  // namespace fuselage::cpu::HWY_NAMESPACE
