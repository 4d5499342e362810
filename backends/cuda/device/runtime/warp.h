#pragma once

namespace fuselage::cuda {

/// Lanes of a warp.
inline constexpr int kWarp = 32;
/// The mask that says that all of them take part.
inline constexpr unsigned kFullWarp = 0xffffffffu;

}  // namespace fuselage::cuda
