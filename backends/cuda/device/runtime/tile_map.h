#pragma once

#include <cuda.h>

#include <cstdint>

namespace fuselage::cuda {

/// A tile that the copy engine of sm_90 copies to shared memory: 64 numbers of 16 bits of each
/// vector, which is 128 bytes.
inline constexpr std::int32_t kTileDepth = 64;

/// Vectors of 16-bit numbers in device memory, `stride` numbers apart, all of which are read.
/// Alignment: 16 bytes, for `data` and for the stride.
struct TileSource {
  const void* data = nullptr;
  std::int64_t vectors = 0;
  std::int64_t stride = 0;
};

/// A map by which begin_tile() copies tiles of `tile_vectors` vectors, at most 256. Numbers past a
/// vector's end and vectors past the last are zeros. Throws Error where the driver has no such
/// maps.
CUtensorMap make_tile_map(const TileSource& source, std::int32_t tile_vectors);

}  // namespace fuselage::cuda
