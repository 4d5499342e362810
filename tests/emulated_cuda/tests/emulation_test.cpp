// Tests of the emulation: it detects faults and follows CUDA's rules.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gmock/gmock.h>
#include <nvrtc.h>

#include <cmath>
#include <string>
#include <vector>

#include "backends/cuda/device/runtime/stream.h"
#include "emulated_cuda/control.h"
#include "tests/cuda/device_array.h"
#include "tests/cuda/launch_kernels.h"
#include "tests/emulated_cuda/tests/faults.h"

namespace fuselage::cuda::emulation_test {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Gt;
using ::testing::IsNan;
using ::testing::Lt;

using EmulationTest = CudaTest;
using EmulationDeathTest = CudaTest;

void run_fault(cudaStream_t stream, Fault fault, std::uint32_t threads) {
  DeviceArray<float> out(threads);
  launch_fault(stream, fault, out.data(), threads);
  cudaStreamSynchronize(stream);
}

TEST_F(EmulationDeathTest, ThreadsThatPartAtABarrier) {
  EXPECT_DEATH(run_fault(stream(), Fault::skipped_barrier, 64), "threads of block.*__syncthreads");
  EXPECT_DEATH(run_fault(stream(), Fault::two_barriers, 64), "__syncthreads.*__syncthreads");
}

TEST_F(EmulationDeathTest, LanesThatAShuffleAwaitsInVain) {
  EXPECT_DEATH(run_fault(stream(), Fault::ended_lane, 64),
               "__shfl_sync.*has ended|has ended.*__shfl_sync");
  EXPECT_DEATH(run_fault(stream(), Fault::absent_lanes, 33), "__shfl_sync.*ffffffff");
  EXPECT_DEATH(run_fault(stream(), Fault::bad_source, 32), "__shfl_xor_sync.*0000ffff");
}

TEST_F(EmulationDeathTest, WritesBesideMemory) {
  EXPECT_DEATH(run_fault(stream(), Fault::overrun, 33), "byte 132 of a piece of 132");
  EXPECT_DEATH(run_fault(stream(), Fault::shared_overrun, 32),
               "behind 128 bytes of dynamic shared");
}

TEST_F(EmulationDeathTest, AKernelThatStartsEarlyWithoutWaiting) {
  const Stream captured;
  DeviceArray<float> out(64);
  const auto enqueue = [&] { launch_fault(captured.get(), Fault::early_half, out.data(), 64); };
  enqueue();  // starts as any other
  captured.synchronize();
  EXPECT_DEATH(
      {
        const CapturedWork work(captured, enqueue);
        work.launch(captured);
        captured.synchronize();
      },
      "32 of 64 threads of block .* wait for the kernels before it");
}

TEST_F(EmulationDeathTest, AHostThatReadsDeviceMemory) {
  const DeviceArray<float> device(1);
  EXPECT_DEATH(EXPECT_EQ(*device.data(), 0), "the host touches device memory");
}

TEST_F(EmulationTest, OrderByChanceShowsARace) {
  DeviceArray<float> out(64);
  launch_fault(stream(), Fault::race, out.data(), 64);
  const std::vector<float> seen = out.to_host();
  EXPECT_NE(seen, std::vector<float>(64, 1.0f));
}

TEST_F(EmulationTest, UnsetSharedMemoryIsNaN) {
  DeviceArray<float> out(64);
  for (int i = 0; i < 2; ++i) {
    launch_fault(stream(), Fault::unset_shared, out.data(), 64);
    EXPECT_THAT(out.to_host(), Each(IsNan()));
  }
}

TEST_F(EmulationTest, FreshMemoryIsNaN) {
  float* data = nullptr;
  ASSERT_EQ(cudaMalloc(&data, 12), cudaSuccess);
  std::vector<float> seen(3);
  ASSERT_EQ(cudaMemcpy(seen.data(), data, 12, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_THAT(seen, Each(IsNan()));
  EXPECT_EQ(cudaFree(data), cudaSuccess);
}

TEST_F(EmulationTest, CopiesKnowTheirMemory) {
  DeviceArray<float> device(3);
  std::vector<float> host(3);
  EXPECT_EQ(cudaMemcpy(host.data(), device.data(), 12, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(host.data(), 0, 12), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST_F(EmulationTest, GraphKeepsPointersAndNoNumbers) {
  const std::vector<float> in = {1, 2, 3};
  DeviceArray<float> from(in), to(3);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
  launch_reverse(stream(), from.data(), to.data(), 3, 32);
  ASSERT_EQ(cudaStreamEndCapture(stream(), &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  cudaGraphDestroy(graph);
  EXPECT_EQ(to.to_host(), std::vector<float>(3, 0.0f));
  const std::vector<float> later = {4, 5, 6};
  cudaMemcpy(from.data(), later.data(), 12, cudaMemcpyHostToDevice);
  ASSERT_EQ(cudaGraphLaunch(exec, stream()), cudaSuccess);
  EXPECT_EQ(to.to_host(), std::vector<float>({6, 5, 4}));
  cudaGraphExecDestroy(exec);
}

TEST_F(EmulationTest, CaptureRefusesWhatCudaDoes) {
  void* data = nullptr;
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&data, 4), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamSynchronize(stream()), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamEndCapture(stream(), &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(cudaMalloc(&data, 4), cudaSuccess);
  cudaFree(data);
}

TEST_F(EmulationTest, StreamsWorkLate) {
  DeviceArray<float> device({1, 2, 3});
  float* staged = nullptr;
  ASSERT_EQ(cudaMallocHost(&staged, 12), cudaSuccess);
  int overtaken = 0;
  for (int i = 0; i < 64; ++i) {
    staged[0] = 1;
    cudaMemcpyAsync(device.data(), staged, 4, cudaMemcpyHostToDevice, stream());
    staged[0] = 2;  // without waiting for the copy
    overtaken += device.to_host()[0] == 2;
  }
  EXPECT_THAT(overtaken, AllOf(Gt(0), Lt(64)));
  cudaFreeHost(staged);
}

TEST_F(EmulationTest, EventsOrderStreams) {
  DeviceArray<float> device(1);
  cudaStream_t other = nullptr;
  cudaEvent_t event = nullptr;
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  for (int i = 0; i < 64; ++i) {
    cudaMemsetAsync(device.data(), 0x3f, 4, stream());
    cudaEventRecord(event, stream());
    cudaStreamWaitEvent(other, event, 0);
    cudaMemsetAsync(device.data(), 0, 4, other);
    EXPECT_EQ(device.to_host()[0], 0.0f);
  }
  cudaEventRecord(event, stream());
  while (cudaEventQuery(event) == cudaErrorNotReady) continue;
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  cudaEventDestroy(event);
  cudaStreamDestroy(other);
}

TEST_F(EmulationTest, CountsAllocations) {
  const std::int64_t before = emulated_cuda::allocations();
  const DeviceArray<float> one(1);
  EXPECT_EQ(emulated_cuda::allocations(), before + 1);
}

TEST(EmulatedTypes, RoundToEven) {
  EXPECT_EQ(__bfloat162float(__float2bfloat16_rn(1.00390625f)), 1.0f);
  EXPECT_EQ(__bfloat162float(__float2bfloat16_rn(1.01171875f)), 1.015625f);
  EXPECT_EQ(__half2float(__float2half_rn(1.00048828125f)), 1.0f);
  EXPECT_EQ(__half2float(__float2half_rn(65520.0f)), INFINITY);
}

constexpr const char* kTwice = R"(
struct Parameters { const float* in; float* out; int count; };
static __device__ float twice(float x) { return 2 * x; }
extern "C" __global__ void __launch_bounds__(128) elements(Parameters p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float one = __shfl_xor_sync(0xffffffffu, 1.0f, 1);
  if (i < p.count) p.out[i] = twice(p.in[i]) + one;
}
)";

std::string compile(const char* source, nvrtcResult expected) {
  nvrtcProgram program = nullptr;
  EXPECT_EQ(nvrtcCreateProgram(&program, source, "f.cu", 0, nullptr, nullptr), NVRTC_SUCCESS);
  const char* options[] = {"--gpu-architecture=sm_90", "--fmad=false"};
  EXPECT_EQ(nvrtcCompileProgram(program, 2, options), expected);
  std::size_t bytes = 0;
  nvrtcGetCUBINSize(program, &bytes);
  std::string binary(bytes, '\0');
  nvrtcGetCUBIN(program, binary.data());
  nvrtcGetProgramLogSize(program, &bytes);
  EXPECT_EQ(expected == NVRTC_SUCCESS, bytes == 1);
  nvrtcDestroyProgram(&program);
  return binary;
}

struct Parameters {
  const float* in;
  float* out;
  int count;
};

std::vector<float> run(cudaStream_t stream, const std::string& binary) {
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
  EXPECT_EQ(cudaLibraryLoadData(&library, binary.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            cudaSuccess);
  EXPECT_EQ(cudaLibraryGetKernel(&kernel, library, "elements"), cudaSuccess);
  DeviceArray<float> in({1, 2, 3}), out(3);
  Parameters parameters{in.data(), out.data(), 3};
  void* arguments[] = {&parameters};
  cudaLaunchConfig_t config{};
  config.gridDim = {2};
  config.blockDim = {32};
  config.stream = stream;
  EXPECT_EQ(cudaLaunchKernelExC(&config, kernel, arguments), cudaSuccess);
  EXPECT_EQ(cudaLibraryUnload(library), cudaSuccess);
  return out.to_host();
}

TEST_F(EmulationTest, RunsWhatItCompiled) {
  std::string three_times = kTwice;
  three_times.replace(three_times.find("2 * x"), 5, "3 * x");
  const std::string first = compile(kTwice, NVRTC_SUCCESS);
  const std::string second = compile(three_times.c_str(), NVRTC_SUCCESS);
  EXPECT_EQ(run(stream(), first), std::vector<float>({3, 5, 7}));
  EXPECT_EQ(run(stream(), second), std::vector<float>({4, 7, 10}));
}

TEST_F(EmulationTest, ReportsWhatDoesNotCompile) { compile("no kernel", NVRTC_ERROR_COMPILATION); }

}  // namespace
}  // namespace fuselage::cuda::emulation_test
