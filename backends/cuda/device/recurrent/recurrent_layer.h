#pragma once

#include <cudnn.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/cuda/device/recurrent/cudnn_functions.h"
#include "fuselage/ops/fused/recurrent.h"

namespace fuselage::cuda {

// A recurrent layer as cuDNN describes it: one direction, a bias for each of its two products.

struct RecurrentShape {
  RecurrentCell cell = RecurrentCell::gru;
  std::int32_t inputs = 0, units = 0;

  auto operator<=>(const RecurrentShape&) const = default;
};

/// "recurrent layer (gru, 512 to 1024)".
std::string show(const RecurrentShape& shape);

CudnnHandle make_cudnn_handle();

/// cuDNN's descriptor of a layer.
class RecurrentDescriptor {
 public:
  /// With tf32, products may round their operands to TF32.
  RecurrentDescriptor(cudnnHandle_t handle, const RecurrentShape& shape, bool tf32);

  cudnnRNNDescriptor_t get() const { return layer_.get(); }

 private:
  CudnnDropout dropout_;
  CudnnLayer layer_;
};

/// A layer's parameters: w [inputs, gates * units], u [units, gates * units], b and
/// c [gates * units], with gates in cuDNN's order.
struct RecurrentParameters {
  const float *w = nullptr, *u = nullptr, *b = nullptr, *c = nullptr;
};

/// The parameters in the layout of cuDNN's weight space.
std::vector<std::byte> recurrent_weights(const RecurrentShape& shape,
                                         const RecurrentParameters& parameters);

}  // namespace fuselage::cuda
