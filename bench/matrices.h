#pragma once

#include <cstddef>
#include <vector>

#include "backends/cpu/simd/gemm/packed_matrix.h"
#include "fuselage/base/dtype.h"
#include "fuselage/base/tensor.h"

namespace fuselage {

/// Normally distributed numbers, the same for the same size.
std::vector<float> random_numbers(std::size_t size, float deviation = 1);

/// `count` vectors of k such numbers as `dtype`: f32, bf16, or a quantized type with integers small
/// enough that sums of k products fit in 32 bits.
Tensor random_vectors(DType dtype, std::size_t count, std::size_t k, float deviation = 1);

/// A [k, n] matrix whose columns are such vectors. It is in huge pages, as a model's weights are:
/// small pages are scattered in physical memory, so some evict others from the second-level cache.
cpu::PackedMatrix random_matrix(DType dtype, std::size_t k, std::size_t n, float deviation = 1);

}  // namespace fuselage
