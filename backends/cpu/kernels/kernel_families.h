#pragma once

#include <span>

#include "fuselage/backends/cpu/runtime/kernel.h"

namespace fuselage::cpu {

// One function per file of kernels returns its entries, best first for each op.
std::span<const KernelEntry> product_kernels();
std::span<const KernelEntry> batch_matmul_kernels();
std::span<const KernelEntry> elementwise_kernels();
std::span<const KernelEntry> linear_kernels();
std::span<const KernelEntry> normalization_kernels();
std::span<const KernelEntry> attention_kernels();
std::span<const KernelEntry> copy_kernels();
std::span<const KernelEntry> strided_copy_kernels();
std::span<const KernelEntry> loop_kernels();
std::span<const KernelEntry> quantize_kernels();
std::span<const KernelEntry> output_kernels();
std::span<const KernelEntry> shortlist_kernels();
std::span<const KernelEntry> ensemble_kernels();
std::span<const KernelEntry> repetition_kernels();
std::span<const KernelEntry> sampling_kernels();
std::span<const KernelEntry> row_function_kernels();
std::span<const KernelEntry> reference_kernels();

using KernelFamily = std::span<const KernelEntry> (*)();

/// In order of preference; row functions and the reference evaluation are the last resorts.
inline constexpr KernelFamily kKernelFamilies[] = {
    product_kernels,       batch_matmul_kernels, elementwise_kernels, linear_kernels,
    normalization_kernels, attention_kernels,    copy_kernels,        strided_copy_kernels,
    loop_kernels,          quantize_kernels,     output_kernels,      shortlist_kernels,
    ensemble_kernels,      repetition_kernels,   sampling_kernels,    row_function_kernels,
    reference_kernels};

}  // namespace fuselage::cpu
