#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "backends/cuda/device/gemm/blas.h"
#include "backends/cuda/device/gemm/device_weights.h"
#include "backends/cuda/device/output/k_best.h"
#include "backends/cuda/device/runtime/memory.h"
#include "backends/cuda/device/runtime/stream.h"
#include "bench/cuda/cudnn_softmax.h"

namespace fuselage::cuda {

/// The sizes of an output layer: x [rows, depth] of bf16, a vocabulary of `columns`, the k best.
struct OutputShape {
  std::int64_t rows = 0;
  std::int32_t depth = 0, columns = 0, k = 0;
};

/// The results of an output layer.
struct OutputResults {
  std::vector<float> values;
  std::vector<std::int32_t> ids;
};

/// An output layer with random numbers in device memory. Each member function enqueues one way of
/// computing it, or a part of it.
class OutputWorkload {
 public:
  OutputWorkload(const OutputShape& shape, const Stream& stream);

  const OutputShape& shape() const { return shape_; }
  double product_flop() const;
  std::size_t logit_bytes() const;

  /// The product, with logits of f32 or bf16.
  void multiply(cudaStream_t stream, DType logits);
  /// From logits of f32: by the unfused kernels of Hoang et al., by optimal separate kernels, by
  /// separate kernels with another softmax, and by one kernel that reads the logits once.
  void rank_in_three_kernels(cudaStream_t stream);
  void rank_in_separate_kernels(cudaStream_t stream);
  void rank_by_softmax(cudaStream_t stream, const LogSoftmax& softmax);
  void rank_in_one_read(cudaStream_t stream, DType logits);
  /// The whole layer, without logits in memory, and the same by the kernel for Hopper, where the
  /// GPU has its instructions and the shape fits.
  void multiply_and_rank(cudaStream_t stream);
  bool fits_hopper() const;
  void multiply_and_rank_on_hopper(cudaStream_t stream);
  void read_logits(cudaStream_t stream);

  /// The last results.
  OutputResults results() const;

 private:
  BestQuery query(bool log_softmax) const;
  /// The k best of log-probabilities.
  void find_best(cudaStream_t stream, const float* finished);
  float* values() const;
  std::int32_t* ids() const;
  float* scores() const;

  OutputShape shape_;
  const Stream& stream_;
  Blas blas_;
  DeviceMemory x_, weights_, bias_, logits_, scores_, finished_, small_, results_, workspace_;
  DeviceMatrix matrix_;
};

/// The largest difference of values between two results, and the share of different ids.
struct OutputDifference {
  double value = 0, ids = 0;
};
OutputDifference difference(const OutputResults& a, const OutputResults& b);

}  // namespace fuselage::cuda
