#include "backends/cuda/device/gemm/bias_relu.h"
#include "backends/cuda/device/runtime/early_start.h"
#include "backends/cuda/device/runtime/launch.h"

namespace fuselage::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void bias_relu_kernel(float* out, std::int64_t stride, std::int64_t columns,
                                 const float* bias, bool relu) {
  start_early();
  float* row = out + static_cast<std::int64_t>(blockIdx.x) * stride;
  for (std::int64_t c = threadIdx.x; c < columns; c += kThreads) {
    float value = row[c];
    if (bias) value = __fadd_rn(value, bias[c]);
    row[c] = relu && value < 0 ? 0 : value;
  }
}

}  // namespace

void add_bias_relu(cudaStream_t stream, float* out, std::int64_t stride, std::int64_t rows,
                   std::int64_t columns, const float* bias, bool relu) {
  launch_early(stream, bias_relu_kernel, {blocks_for(rows, 1), kThreads}, out, stride, columns,
               bias, relu);
}

}  // namespace fuselage::cuda
