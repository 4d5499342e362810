#pragma once

#include <cstdint>

namespace fuselage::cuda {

/// The largest k of kernels for the k best.
inline constexpr std::int32_t kMaxBest = 64;

/// The largest number of models in an ensemble.
inline constexpr std::int32_t kMaxMembers = 32;

/// The largest number of dimensions of a view (StridedView).
inline constexpr std::int32_t kMaxStridedDims = 6;

}  // namespace fuselage::cuda
