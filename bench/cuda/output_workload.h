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

/// How large an output layer is: x [rows, depth] of bf16, a vocabulary of `columns`, the k best.
struct OutputShape {
  std::int64_t rows = 0;
  std::int32_t depth = 0, columns = 0, k = 0;
};

/// What a way to compute it gives.
struct OutputResults {
  std::vector<float> values;
  std::vector<std::int32_t> ids;
};

/// An output layer of random numbers in device memory, and ways to compute it or parts of it. Each
/// puts its work into a stream.
class OutputWorkload {
 public:
  OutputWorkload(const OutputShape& shape, const Stream& stream);

  const OutputShape& shape() const { return shape_; }
  double product_flop() const;
  std::size_t logit_bytes() const;

  /// The product, to logits of f32 or bf16.
  void multiply(cudaStream_t stream, DType logits);
  /// From logits of f32: as Hoang et al. had it before they fused it, as well as separate kernels
  /// can, with another softmax between a bias and the best, and by one kernel that reads them once.
  void rank_in_three_kernels(cudaStream_t stream);
  void rank_in_separate_kernels(cudaStream_t stream);
  void rank_by_softmax(cudaStream_t stream, const LogSoftmax& softmax);
  void rank_in_one_read(cudaStream_t stream, DType logits);
  /// All of it, without logits.
  void multiply_and_rank(cudaStream_t stream);
  void read_logits(cudaStream_t stream);

  /// What was computed last.
  OutputResults results() const;

 private:
  BestQuery query(bool log_softmax) const;
  /// The best of logarithms of probabilities.
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

/// How far results are from others: the largest difference of values, and the share of ids that
/// differ.
struct OutputDifference {
  double value = 0, ids = 0;
};
OutputDifference difference(const OutputResults& a, const OutputResults& b);

}  // namespace fuselage::cuda
