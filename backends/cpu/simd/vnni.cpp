#include "backends/cpu/simd/table.h"
#include "backends/cpu/simd/targets.h"
#include "hwy/detect_targets.h"

#if HWY_TARGETS & HWY_AVX3

#include "backends/cpu/simd/gemm/vnni-inl.h"
// Included after vnni-inl.h, which selects the target.
#include "backends/cpu/simd/gemm/gemm_family-inl.h"
#include "backends/cpu/simd/output/ensemble_family-inl.h"
#include "backends/cpu/simd/output/output_family-inl.h"
#include "backends/cpu/simd/output/shortlist_family-inl.h"

namespace fuselage::cpu {

bool fill_vnni(KernelTable& table) {
  N_AVX3_VNNI::set_gemm(table);
  N_AVX3_VNNI::set_output(table);
  N_AVX3_VNNI::set_ensemble_output(table);
  N_AVX3_VNNI::set_shortlist(table);
  return true;
}

}  // namespace fuselage::cpu

#else

bool fuselage::cpu::fill_vnni(KernelTable&) { return false; }

#endif
