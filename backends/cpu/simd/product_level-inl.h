// The kernels of products of one level; its target's own level has other ones. No guard: included
// once per level.
#include "backends/cpu/simd/gemm/gemm_family-inl.h"
#include "backends/cpu/simd/output/ensemble_family-inl.h"
#include "backends/cpu/simd/output/output_family-inl.h"
#include "backends/cpu/simd/output/shortlist_family-inl.h"
#include "backends/cpu/simd/table.h"

namespace fuselage::cpu::HWY_NAMESPACE {

inline void set_products(KernelTable& table) {
  set_gemm(table);
  set_output(table);
  set_ensemble_output(table);
  set_shortlist(table);
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
