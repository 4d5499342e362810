// Products by a matrix in integers.
#include <cstddef>

#include "backends/cpu/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd/gemm/gemm_integers.cpp"
#include "hwy/foreach_target.h"
// Compiled once a target, so after that.
#include "backends/cpu/simd/gemm/plain_products-inl.h"

namespace fuselage::cpu::HWY_NAMESPACE {

template void multiply_plainly<Int8Arithmetic>(const RowsIn&, std::size_t, const PackedMatrix&,
                                               std::size_t, std::size_t, const RowsOut&);
template void multiply_plainly<Int16Arithmetic>(const RowsIn&, std::size_t, const PackedMatrix&,
                                                std::size_t, std::size_t, const RowsOut&);
template void multiply_plainly<Log4Arithmetic>(const RowsIn&, std::size_t, const PackedMatrix&,
                                               std::size_t, std::size_t, const RowsOut&);

}  // namespace fuselage::cpu::HWY_NAMESPACE
