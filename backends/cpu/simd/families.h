#pragma once

#include <cstdint>

namespace fuselage::cpu {

struct KernelTable;

/// Each writes its family's entries for Highway's chosen target and returns the target that the
/// functions were compiled for.
std::int64_t fill_gemm(KernelTable& table);
std::int64_t fill_quantize(KernelTable& table);
std::int64_t fill_pointwise(KernelTable& table);
std::int64_t fill_normalize(KernelTable& table);
std::int64_t fill_attention(KernelTable& table);
std::int64_t fill_k_best(KernelTable& table);
std::int64_t fill_output(KernelTable& table);
std::int64_t fill_ensemble_output(KernelTable& table);
std::int64_t fill_shortlist(KernelTable& table);

/// Replaces entries of an AVX3 table by those for AVX-512-VNNI; false where there are none.
bool fill_vnni(KernelTable& table);

}  // namespace fuselage::cpu
