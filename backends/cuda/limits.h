#pragma once

#include <cstdint>

namespace fuselage::cuda {

/// Most words that a kernel finds the best of.
inline constexpr std::int32_t kMaxBest = 64;

/// Most models whose output layers one kernel takes.
inline constexpr std::int32_t kMaxMembers = 32;

}  // namespace fuselage::cuda
