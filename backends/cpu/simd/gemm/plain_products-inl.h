// The definition of multiply_plainly (gemm_family-inl.h). Compiled once a target, hence the unusual
// guard.
#if defined(FUSELAGE_CPU_KERNELS_PLAIN_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_PLAIN_PRODUCTS_INL_H_
#undef FUSELAGE_CPU_KERNELS_PLAIN_PRODUCTS_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_PLAIN_PRODUCTS_INL_H_
#endif

#include <cstddef>

#include "backends/cpu/simd/gemm/gemm_family-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

template <class Arithmetic>
void multiply_plainly(const RowsIn& a, std::size_t rows, const PackedMatrix& b, std::size_t first,
                      std::size_t columns, const RowsOut& c) {
  NoEpilogue none;
  multiply_rows<Arithmetic>(a, rows, b, first, columns, c, none);
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_PLAIN_PRODUCTS_INL_H_
