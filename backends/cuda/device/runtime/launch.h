#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace fuselage::cuda {

/// Throws Error with CUDA's message unless `status` is success, and OutOfMemory if memory is short.
/// `what` names the attempted call.
void expect_success(cudaError_t status, std::string_view what);

/// Threads of a warp.
inline constexpr int kWarpSize = 32;

/// The launch configuration of a kernel: blocks, threads of a block, and bytes of dynamic shared
/// memory.
struct LaunchConfig {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
};

/// Dynamic shared memory that a block gets without allow_max_shared().
inline constexpr std::size_t kDefaultSharedBytes = std::size_t{48} << 10;

/// Raises a kernel's limit of dynamic shared memory to the device's maximum. The kernel must have
/// no static shared memory.
void allow_max_shared(const void* kernel);

/// CUDA's form of a configuration. With `early` a kernel that is captured on a device of sm_90 or
/// later may start, up to start_early() (early_start.h), before the kernel ahead of it has ended:
/// the dependency in the captured graph is a programmatic one. Launches that are not captured are
/// as without it, which shows whether a difference comes from early starts.
class NativeConfig {
 public:
  NativeConfig(cudaStream_t stream, const LaunchConfig& config, bool early);
  NativeConfig(const NativeConfig&) = delete;
  NativeConfig& operator=(const NativeConfig&) = delete;

  const cudaLaunchConfig_t* get() const { return &native_; }

 private:
  cudaLaunchConfig_t native_{};
  cudaLaunchAttribute attribute_{};
};

template <typename... Parameters, typename... Arguments>
void launch_with(cudaStream_t stream, void (*kernel)(Parameters...), const LaunchConfig& config,
                 bool early, Arguments&&... arguments) {
  if (config.grid.x == 0 || config.grid.y == 0 || config.grid.z == 0) return;
  if (config.shared_bytes > kDefaultSharedBytes)
    allow_max_shared(reinterpret_cast<const void*>(kernel));
  const NativeConfig native(stream, config, early);
  expect_success(
      cudaLaunchKernelEx(native.get(), kernel, Parameters(std::forward<Arguments>(arguments))...),
      "launch of a kernel");
}

/// Enqueues a kernel. A grid without blocks is a no-op.
template <typename... Parameters, typename... Arguments>
void launch(cudaStream_t stream, void (*kernel)(Parameters...), const LaunchConfig& config,
            Arguments&&... arguments) {
  launch_with(stream, kernel, config, false, std::forward<Arguments>(arguments)...);
}

/// The same, of a kernel that begins with start_early().
template <typename... Parameters, typename... Arguments>
void launch_early(cudaStream_t stream, void (*kernel)(Parameters...), const LaunchConfig& config,
                  Arguments&&... arguments) {
  launch_with(stream, kernel, config, true, std::forward<Arguments>(arguments)...);
}

/// Blocks that saturate the memory bandwidth of a large GPU: 4 for each of 132 multiprocessors.
inline constexpr std::int64_t kSaturatingBlocks = 528;

/// Blocks for `count` items at `per_block` each. The limit of grids in x is 2^31 - 1.
inline std::uint32_t blocks_for(std::int64_t count, std::int64_t per_block) {
  return static_cast<std::uint32_t>((count + per_block - 1) / per_block);
}

}  // namespace fuselage::cuda
