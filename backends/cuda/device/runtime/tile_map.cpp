#include "backends/cuda/device/runtime/tile_map.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include "backends/cuda/device/runtime/launch.h"
#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

using EncodeTiled = decltype(&cuTensorMapEncodeTiled);

/// A function of the driver, which the module does not link, so that it loads without a driver.
EncodeTiled find_encode_tiled() {
  constexpr unsigned kSince = 12000;
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result{};
  expect_success(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, kSince,
                                                  cudaEnableDefault, &result),
                 "query of the driver's maps of tiles");
  check(result == cudaDriverEntryPointSuccess && function != nullptr,
        "CUDA: the driver has no maps of tiles");
  return reinterpret_cast<EncodeTiled>(function);
}

}  // namespace

CUtensorMap make_tile_map(const TileSource& source, std::int32_t tile_vectors) {
  static const EncodeTiled encode = find_encode_tiled();
  constexpr cuuint64_t kBytes = 2;
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(source.stride),
                              static_cast<cuuint64_t>(source.vectors)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(source.stride) * kBytes};
  const cuuint32_t box[] = {kTileDepth, static_cast<cuuint32_t>(tile_vectors)};
  const cuuint32_t steps[] = {1, 1};
  CUtensorMap map;
  const CUresult status =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, const_cast<void*>(source.data), sizes,
             strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS)
    throw InternalError(
        fmt::format("CUDA: no map of {} vectors of stride {} in tiles of {}: error {}",
                    source.vectors, source.stride, tile_vectors, static_cast<int>(status)));
  return map;
}

}  // namespace fuselage::cuda
