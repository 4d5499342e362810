#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace fuselage::cuda {

/// Throws Error with what CUDA says unless `status` is success. `what` was tried.
void expect_success(cudaError_t status, std::string_view what);

/// How a kernel is spread: blocks, threads of each, and bytes of shared memory that it asks for
/// beside what it declares.
struct Spread {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
};

/// Shared memory that a block gets without being allowed more.
inline constexpr std::size_t kUsualShared = std::size_t{48} << 10;

/// Lets a kernel that declares no shared memory be launched with all that a block of the current
/// device can have.
void allow_all_shared(const void* kernel);

/// Puts a kernel at the end of the stream. Nothing to do for a grid without blocks.
template <typename... Parameters, typename... Arguments>
void launch(cudaStream_t stream, void (*kernel)(Parameters...), const Spread& spread,
            Arguments&&... arguments) {
  if (spread.grid.x == 0 || spread.grid.y == 0 || spread.grid.z == 0) return;
  if (spread.shared_bytes > kUsualShared) allow_all_shared(reinterpret_cast<const void*>(kernel));
  cudaLaunchConfig_t config{};
  config.gridDim = spread.grid;
  config.blockDim = spread.block;
  config.dynamicSmemBytes = spread.shared_bytes;
  config.stream = stream;
  expect_success(
      cudaLaunchKernelEx(&config, kernel, Parameters(std::forward<Arguments>(arguments))...),
      "launch of a kernel");
}

/// Blocks that keep the memory of a large GPU busy: 4 for each of 132 multiprocessors.
inline constexpr std::int64_t kBusyBlocks = 528;

/// Blocks for `count` things at `per_block` each; grids in x may have 2^31 - 1.
inline std::uint32_t blocks_for(std::int64_t count, std::int64_t per_block) {
  return static_cast<std::uint32_t>((count + per_block - 1) / per_block);
}

}  // namespace fuselage::cuda
