#include "emulated_cuda/launch.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <random>
#include <vector>

#include "block.h"
#include "emulated_cuda/control.h"
#include "emulated_cuda/hopper.h"
#include "failure.h"
#include "stream.h"
#include "tests/emulated_cuda/shared_memory/range.h"

namespace emulated_cuda {
namespace {

constexpr std::size_t kMaxSharedBytes = std::size_t{227} << 10;     // of a block on sm_90
constexpr std::size_t kDefaultSharedBytes = std::size_t{48} << 10;  // without the attribute
constexpr std::size_t kGuardBytes = 4096;
constexpr std::uint8_t kGarbage = 0xff;

struct alignas(128) SharedMemory {
  std::uint8_t bytes[kMaxSharedBytes + kGuardBytes];
};
thread_local SharedMemory shared_memory;

std::uint64_t seed_of_environment() {
  const char* text = std::getenv("FUSELAGE_EMULATION_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 1;
}
std::uint64_t current_seed = seed_of_environment();

std::mutex attributes_mutex;
std::map<const void*, std::size_t> shared_limits;  // by kernel, for kernels with the attribute

std::size_t allowed_shared(const void* kernel) {
  const std::lock_guard lock(attributes_mutex);
  const auto found = shared_limits.find(kernel);
  return found == shared_limits.end() ? kDefaultSharedBytes : found->second;
}

bool possible(const dim3& grid, const dim3& block) {
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  return threads > 0 && threads <= 1024 && block.z <= 64 && grid.x > 0 && grid.y > 0 &&
         grid.z > 0 && grid.x <= 0x7fffffffu && grid.y <= 65535 && grid.z <= 65535;
}

void fill_shared(std::size_t asked) {
  std::memset(shared_memory.bytes, kGarbage, asked + kGuardBytes);
  std::uint8_t* begin = begin_of_static_shared_memory();
  std::memset(begin, kGarbage, static_cast<std::size_t>(end_of_static_shared_memory() - begin));
}

void check_shared(std::size_t asked) {
  const std::uint8_t* guard = shared_memory.bytes + asked;
  if (std::all_of(guard, guard + kGuardBytes, [](std::uint8_t b) { return b == kGarbage; })) return;
  fail(fmt::format("written behind {} bytes of dynamic shared memory", asked));
}

std::atomic<std::int64_t> early_launch_count{0};
thread_local std::uint64_t threads_that_waited = 0;  // of the running block

bool may_start_early(const cudaLaunchConfig_t& config) {
  for (unsigned i = 0; i < config.numAttrs; ++i)
    if (config.attrs[i].id == cudaLaunchAttributeProgrammaticStreamSerialization &&
        config.attrs[i].val.programmaticStreamSerializationAllowed != 0)
      return true;
  return false;
}

/// A thread that does not wait could read what a kernel before it is still to write, and the kernel
/// behind could begin too early.
void check_waits(const dim3& block) {
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (threads_that_waited != threads)
    fail(
        fmt::format("a kernel may start early, but {} of {} threads of block ({}, {}, {}) wait "
                    "for the kernels before it",
                    threads_that_waited, threads, blockIdx.x, blockIdx.y, blockIdx.z));
}

void run_grid(const dim3& grid, const dim3& block, std::size_t shared_bytes, bool early,
              const std::function<void()>& thread) {
  thread_local std::uint64_t launches = 0;
  std::mt19937_64 random(current_seed + launches++);
  std::vector<std::uint64_t> order(std::uint64_t{grid.x} * grid.y * grid.z);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  gridDim = grid;
  blockDim = block;
  for (const std::uint64_t number : order) {
    blockIdx = {static_cast<unsigned>(number % grid.x),
                static_cast<unsigned>(number / grid.x % grid.y),
                static_cast<unsigned>(number / grid.x / grid.y)};
    fill_shared(shared_bytes);
    threads_that_waited = 0;
    running_block().run(block, thread, random);
    check_tiles();
    if (early) check_waits(block);
    check_shared(shared_bytes);
  }
}

}  // namespace

std::uint64_t seed() { return current_seed; }
void set_seed(std::uint64_t seed) { current_seed = seed; }

std::int64_t early_launches() { return early_launch_count; }

void wait_for_earlier_kernels() { ++threads_that_waited; }

void* dynamic_shared_memory() { return shared_memory.bytes; }

cudaError_t enqueue(const cudaLaunchConfig_t& config, const void* kernel,
                    std::function<void()> thread) {
  if (const cudaError_t refused = refuse_other_device(config.stream)) return refused;
  if (!possible(config.gridDim, config.blockDim)) return report(cudaErrorInvalidConfiguration);
  if (config.dynamicSmemBytes > allowed_shared(kernel)) return report(cudaErrorInvalidValue);
  count_launch();
  const bool early = may_start_early(config);
  early_launch_count += early ? 1 : 0;
  return perform(
      config.stream,
      [grid = config.gridDim, block = config.blockDim, bytes = config.dynamicSmemBytes, early,
       thread = std::move(thread)] { run_grid(grid, block, bytes, early, thread); });
}

}  // namespace emulated_cuda

extern "C" {

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || static_cast<std::size_t>(value) > emulated_cuda::kMaxSharedBytes)
    return emulated_cuda::report(cudaErrorInvalidValue);
  const std::lock_guard lock(emulated_cuda::attributes_mutex);
  emulated_cuda::shared_limits[kernel] = static_cast<std::size_t>(value);
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int threads,
                                                          size_t shared_bytes) {
  const std::size_t by_memory = emulated_cuda::kMaxSharedBytes / std::max<size_t>(shared_bytes, 1);
  *blocks = static_cast<int>(std::min<size_t>(2048u / static_cast<unsigned>(threads), by_memory));
  return cudaSuccess;
}

}  // extern "C"
