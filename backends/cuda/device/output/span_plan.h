#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace fuselage::cuda {

/// The blocks that share the columns of a tile of rows, each with a span of the tiles of columns,
/// and the time of a launch with so many of them, as a multiple of a tile's time.
struct SpanPlan {
  std::int32_t spans = 1;
  double tiles = 0;
};

/// The plan of least time for `blocks` tiles of rows and `tiles` of columns, of which `at_once` are
/// computed at the same time. `start`: the time of a block besides its tiles.
SpanPlan plan_spans(std::int64_t blocks, std::int64_t tiles, std::int64_t at_once, double start);

/// An attribute of the current device.
int attribute_of_device(cudaDeviceAttr attribute);

}  // namespace fuselage::cuda
