#include "backends/cpu/kernels/families.h"
#include "backends/cpu/kernels/targets.h"
#include "hwy/detect_targets.h"

#if HWY_TARGETS & HWY_AVX3

#include "backends/cpu/kernels/vnni-inl.h"
// After that, which chooses what they are compiled for.
#include "backends/cpu/kernels/ensemble_family-inl.h"
#include "backends/cpu/kernels/gemm_family-inl.h"
#include "backends/cpu/kernels/output_family-inl.h"
#include "backends/cpu/kernels/shortlist_family-inl.h"

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
