// Logits by every type of matrix, for AVX-512-VNNI.
#include <cstddef>

#include "backends/cpu/simd/targets.h"
#include "hwy/detect_targets.h"

#if HWY_TARGETS & HWY_AVX3

#include "backends/cpu/simd/gemm/vnni-inl.h"
// After that, which chooses what they are compiled for.
#include "backends/cpu/simd/output/logit_products-inl.h"

namespace fuselage::cpu::HWY_NAMESPACE {

template void multiply_logits<FloatArithmetic>(const RowsIn&, std::size_t, const PackedMatrix&,
                                               std::size_t, std::size_t, const RowsOut&,
                                               const LogitEpilogue&);
template void multiply_logits<BFloat16Arithmetic>(const RowsIn&, std::size_t, const PackedMatrix&,
                                                  std::size_t, std::size_t, const RowsOut&,
                                                  const LogitEpilogue&);
template void multiply_logits<Int8Arithmetic>(const RowsIn&, std::size_t, const PackedMatrix&,
                                              std::size_t, std::size_t, const RowsOut&,
                                              const LogitEpilogue&);
template void multiply_logits<Int16Arithmetic>(const RowsIn&, std::size_t, const PackedMatrix&,
                                               std::size_t, std::size_t, const RowsOut&,
                                               const LogitEpilogue&);
template void multiply_logits<Log4Arithmetic>(const RowsIn&, std::size_t, const PackedMatrix&,
                                              std::size_t, std::size_t, const RowsOut&,
                                              const LogitEpilogue&);

}  // namespace fuselage::cpu::HWY_NAMESPACE

#endif
