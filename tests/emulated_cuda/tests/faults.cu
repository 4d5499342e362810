#include "backends/cuda/device/runtime/early_start.h"
#include "backends/cuda/device/runtime/launch.h"
#include "backends/cuda/device/runtime/shared_memory.h"
#include "tests/emulated_cuda/tests/faults.h"

namespace fuselage::cuda {
namespace {

constexpr std::uint32_t kAllLanes = 0xffffffffu;

__global__ void race(float* out) {
  __shared__ float values[1024];
  values[threadIdx.x] = 1;
  out[threadIdx.x] = values[(threadIdx.x + 1) % blockDim.x];
}

__global__ void skipped_barrier() {
  if (threadIdx.x < blockDim.x / 2) __syncthreads();
}

__global__ void two_barriers() {
  if (threadIdx.x < blockDim.x / 2) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

__global__ void ended_lane(float* out) {
  if (threadIdx.x % 32 == 5) return;
  out[threadIdx.x] = __shfl_sync(kAllLanes, 1.0f, 0);
}

__global__ void absent_lanes(float* out) { out[0] = __shfl_sync(kAllLanes, 1.0f, 0); }

__global__ void bad_source(float* out) {
  if (threadIdx.x >= 16) return;
  out[threadIdx.x] = __shfl_xor_sync(0xffffu, 1.0f, 16);
}

__global__ void overrun(float* out) { out[threadIdx.x + 1] = 1; }

__global__ void shared_overrun() { dynamic_shared<float>()[threadIdx.x + 1] = 1; }

__global__ void unset_shared(float* out) {
  __shared__ float values[1024];
  if (!out) values[threadIdx.x] = 1;
  out[threadIdx.x] = values[threadIdx.x];
}

__global__ void early_half(float* out) {
  if (threadIdx.x >= blockDim.x / 2) return;
  start_early();
  out[threadIdx.x] = 1;
}

}  // namespace

void launch_fault(cudaStream_t stream, Fault fault, float* out, std::uint32_t threads) {
  const LaunchConfig spread{{1}, {threads}, 128};
  switch (fault) {
    case Fault::race:
      return launch(stream, race, spread, out);
    case Fault::skipped_barrier:
      return launch(stream, skipped_barrier, spread);
    case Fault::two_barriers:
      return launch(stream, two_barriers, spread);
    case Fault::ended_lane:
      return launch(stream, ended_lane, spread, out);
    case Fault::absent_lanes:
      return launch(stream, absent_lanes, spread, out);
    case Fault::bad_source:
      return launch(stream, bad_source, spread, out);
    case Fault::overrun:
      return launch(stream, overrun, spread, out);
    case Fault::shared_overrun:
      return launch(stream, shared_overrun, spread);
    case Fault::unset_shared:
      return launch(stream, unset_shared, spread, out);
    case Fault::early_half:
      return launch_early(stream, early_half, spread, out);
  }
}

}  // namespace fuselage::cuda
