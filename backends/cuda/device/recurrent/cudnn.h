#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <span>

namespace fuselage::cuda {

struct RecurrentShape;  // recurrent_layer.h

/// A recurrent layer on sentences that stand one position after the other, in each position the
/// longest first: rows of x have `inputs` numbers, rows of y `units`, without gaps.
struct RecurrentCall {
  const float* x = nullptr;
  float* y = nullptr;
  std::span<const int> lengths;        ///< of the sentences, none longer than the one before
  std::span<const std::byte> weights;  ///< in device memory, as recurrent_weights() has them
};

/// What one worker has of cuDNN; it starts with the first layer. Not thread-safe, and its layers
/// must follow one another on one stream, since they share memory.
class Cudnn {
 public:
  /// With tf32, what products multiply may be rounded to TF32.
  explicit Cudnn(bool tf32 = false) : tf32_(tf32) {}

  /// Puts a layer, whose state begins as zeros, at the end of the stream. Takes device memory where
  /// it has less than a batch needs. Cannot be captured. Throws Error when cuDNN refuses.
  void run(cudaStream_t stream, const RecurrentShape& shape, const RecurrentCall& call);

 private:
  struct State;
  bool tf32_;
  std::shared_ptr<State> state_;  ///< shared for its deleter: there may be no cuDNN to build with
};

}  // namespace fuselage::cuda
