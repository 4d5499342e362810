// The definition of multiply_logits (logits-inl.h). Compiled once a target, hence the unusual
// guard.
#if defined(FUSELAGE_CPU_KERNELS_LOGIT_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_LOGIT_PRODUCTS_INL_H_
#undef FUSELAGE_CPU_KERNELS_LOGIT_PRODUCTS_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_LOGIT_PRODUCTS_INL_H_
#endif

#include <cstddef>

#include "backends/cpu/simd/output/logits-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

template <class Arithmetic>
void multiply_logits(const RowsIn& a, std::size_t rows, const PackedMatrix& b, std::size_t first,
                     std::size_t columns, const RowsOut& products, const LogitEpilogue& epilogue) {
  multiply_rows<Arithmetic>(a, rows, b, first, columns, products, epilogue);
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_LOGIT_PRODUCTS_INL_H_
