#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <memory>
#include <span>

namespace fuselage::cuda {

struct RecurrentShape;  // recurrent_layer.h

/// The operands of a recurrent layer on packed sentences (cuDNN's term): rows are ordered by
/// position, then by sentence, the longest sentence first. Rows of x have `inputs` numbers, rows of
/// y `units`, without gaps.
struct RecurrentCall {
  const float* x = nullptr;
  float* y = nullptr;
  std::span<const int> lengths;        ///< of sentences, in descending order
  std::span<const std::byte> weights;  ///< device memory, in the form of recurrent_weights()
};

/// A worker's handle of cuDNN, created at the first layer. Not thread-safe, and all layers must be
/// on one stream, since they share a workspace.
class Cudnn {
 public:
  /// With tf32, products may round their operands to TF32.
  explicit Cudnn(bool tf32 = false) : tf32_(tf32) {}

  /// Enqueues a layer with an initial state of zeros. Grows the workspace where needed. Cannot be
  /// captured. Throws Error when cuDNN fails.
  void run(cudaStream_t stream, const RecurrentShape& shape, const RecurrentCall& call);

 private:
  struct State;
  bool tf32_;
  std::shared_ptr<State> state_;  ///< shared_ptr, since State is incomplete without cuDNN's header
};

}  // namespace fuselage::cuda
