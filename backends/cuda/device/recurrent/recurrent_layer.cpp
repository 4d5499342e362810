#include "backends/cuda/device/recurrent/recurrent_layer.h"

#include <fmt/format.h>

#include <functional>
#include <numeric>
#include <utility>

#include "backends/cuda/device/runtime/memory.h"
#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

constexpr Purpose kWeights{"the weights of a recurrent layer", "use another device"};

/// A descriptor of no dropout.
CudnnDropout no_dropout(cudnnHandle_t handle) {
  auto dropout = make_owned<CudnnDropout>(cudnn().create_dropout, "dropout of a recurrent layer");
  expect_success(cudnn().set_dropout(dropout.get(), handle, 0, nullptr, 0, 0),
                 "dropout of a recurrent layer");
  return dropout;
}

cudnnRNNMode_t mode_of(RecurrentCell cell) {
  return cell == RecurrentCell::gru ? CUDNN_GRU : CUDNN_LSTM;
}

/// A layer's weight space. cuDNN gives addresses in device memory; the same offsets are filled on
/// the host.
class WeightSpace {
 public:
  WeightSpace(const RecurrentShape& shape, std::size_t bytes)
      : shape_(shape), host_(bytes), device_(bytes, kWeights) {}

  const void* address() const { return device_.data(); }
  std::vector<std::byte> take() { return std::move(host_); }

  /// Copies a gate's columns of a matrix [rows, gates * units], transposed: a row for each unit.
  void fill(cudnnTensorDescriptor_t described, const void* address, const float* matrix,
            std::int32_t rows, std::int32_t gate) {
    expect_size(described, rows);
    float* out = place_of(address, std::size_t{sizeof(float)} * static_cast<std::size_t>(rows) *
                                       static_cast<std::size_t>(shape_.units));
    const std::int64_t stride = gate_count(shape_.cell) * shape_.units;
    const std::int64_t first = std::int64_t{gate} * shape_.units;
    for (std::int64_t unit = 0; unit < shape_.units; ++unit)
      for (std::int64_t row = 0; row < rows; ++row) *out++ = matrix[row * stride + first + unit];
  }

 private:
  /// Checks that a part is f32 [1, units, rows] without gaps.
  void expect_size(cudnnTensorDescriptor_t described, std::int32_t rows) const {
    cudnnDataType_t type{};
    int count = 0;
    int dims[CUDNN_DIM_MAX] = {}, strides[CUDNN_DIM_MAX] = {};
    expect_success(cudnn().get_tensor(described, CUDNN_DIM_MAX, &type, &count, dims, strides),
                   "weights of a recurrent layer");
    const std::int64_t size =
        std::accumulate(dims, dims + count, std::int64_t{1}, std::multiplies<>());
    check(type == CUDNN_DATA_FLOAT && size == std::int64_t{shape_.units} * rows,
          "cuDNN expects a layer's weights in another shape");
  }

  float* place_of(const void* address, std::size_t size) {
    const auto offset =
        static_cast<std::size_t>(static_cast<const std::byte*>(address) - device_.data());
    check(address && offset + size <= host_.size(), "an address outside of a layer's weight space");
    return reinterpret_cast<float*>(host_.data() + offset);
  }

  const RecurrentShape& shape_;
  std::vector<std::byte> host_;
  DeviceMemory device_;
};

}  // namespace

std::string show(const RecurrentShape& shape) {
  return fmt::format("recurrent layer ({}, {} to {})",
                     shape.cell == RecurrentCell::gru ? "gru" : "lstm", shape.inputs, shape.units);
}

CudnnHandle make_cudnn_handle() {
  return make_owned<CudnnHandle>(cudnn().create, "initialization of cuDNN");
}

RecurrentDescriptor::RecurrentDescriptor(cudnnHandle_t handle, const RecurrentShape& shape,
                                         bool tf32)
    : dropout_(no_dropout(handle)),
      layer_(make_owned<CudnnLayer>(cudnn().create_layer, show(shape))) {
  // The standard algorithm: persistent ones support some sizes and devices only, and the one for
  // small layers needs sentences of one length. CUDNN_DEFAULT_MATH allows TF32.
  expect_success(
      cudnn().set_layer(layer_.get(), CUDNN_RNN_ALGO_STANDARD, mode_of(shape.cell),
                        CUDNN_RNN_DOUBLE_BIAS, CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT,
                        CUDNN_DATA_FLOAT, CUDNN_DATA_FLOAT,
                        tf32 ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH, shape.inputs, shape.units,
                        shape.units, 1, dropout_.get(), CUDNN_RNN_PADDED_IO_DISABLED),
      show(shape));
}

std::vector<std::byte> recurrent_weights(const RecurrentShape& shape,
                                         const RecurrentParameters& parameters) {
  const CudnnHandle handle = make_cudnn_handle();
  const RecurrentDescriptor layer(handle.get(), shape, false);
  std::size_t bytes = 0;
  expect_success(cudnn().weight_size(handle.get(), layer.get(), &bytes), show(shape));
  WeightSpace space(shape, bytes);
  const auto matrix = make_owned<CudnnTensor>(cudnn().create_tensor, show(shape));
  const auto bias = make_owned<CudnnTensor>(cudnn().create_tensor, show(shape));
  // First the gates' matrices of the input, then the gates' matrices of the state.
  const auto gates = static_cast<std::int32_t>(gate_count(shape.cell));
  for (std::int32_t i = 0; i < 2 * gates; ++i) {
    void *matrix_at = nullptr, *bias_at = nullptr;
    expect_success(cudnn().weight_params(handle.get(), layer.get(), 0, bytes, space.address(), i,
                                         matrix.get(), &matrix_at, bias.get(), &bias_at),
                   show(shape));
    const bool is_input = i < gates;
    const std::int32_t gate = i % gates;
    space.fill(matrix.get(), matrix_at, is_input ? parameters.w : parameters.u,
               is_input ? shape.inputs : shape.units, gate);
    space.fill(bias.get(), bias_at, is_input ? parameters.b : parameters.c, 1, gate);
  }
  return space.take();
}

}  // namespace fuselage::cuda
