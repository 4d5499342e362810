#include "backends/cuda/device/recurrent/cudnn.h"

#include <bit>
#include <map>

#include "backends/cuda/device/recurrent/recurrent_layer.h"
#include "backends/cuda/device/runtime/launch.h"
#include "backends/cuda/device/runtime/memory.h"
#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

constexpr Purpose kWorkspace{"the workspace of recurrent layers", "use a smaller mini-batch"};

/// Describes packed sentences with `size` numbers per row.
void set_rows(const CudnnRows& rows, std::span<const int> lengths, std::int32_t size) {
  expect_success(cudnn().set_rows(rows.get(), CUDNN_DATA_FLOAT,
                                  CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, lengths.front(),
                                  static_cast<int>(lengths.size()), size, lengths.data(), nullptr),
                 "sentences of a recurrent layer");
}

}  // namespace

struct Cudnn::State {
  struct Layer {
    Layer(cudnnHandle_t handle, const RecurrentShape& shape, bool tf32)
        : descriptor(handle, shape, tf32) {
      expect_success(cudnn().weight_size(handle, descriptor.get(), &weight_bytes), show(shape));
    }
    RecurrentDescriptor descriptor;
    std::size_t weight_bytes = 0;
  };

  explicit State(bool uses_tf32) : tf32(uses_tf32), handle(make_cudnn_handle()) {}

  const Layer& layer(const RecurrentShape& shape) {
    const auto known = layers.find(shape);
    if (known != layers.end()) return known->second;
    return layers.try_emplace(shape, handle.get(), shape, tf32).first->second;
  }

  void describe(const RecurrentShape& shape, std::span<const int> lengths) const {
    set_rows(x, lengths, shape.inputs);
    set_rows(y, lengths, shape.units);
    const auto sentences = static_cast<int>(lengths.size());
    const int dims[] = {1, sentences, shape.units};
    const int strides[] = {sentences * shape.units, shape.units, 1};
    expect_success(cudnn().set_tensor(last.get(), CUDNN_DATA_FLOAT, 3, dims, strides),
                   "states of a recurrent layer");
  }

  /// Grows the workspace for the described rows and returns its size in bytes.
  std::size_t reserve(cudaStream_t stream, const Layer& layer) {
    std::size_t bytes = 0, for_training = 0;
    expect_success(cudnn().temp_sizes(handle.get(), layer.descriptor.get(),
                                      CUDNN_FWD_MODE_INFERENCE, x.get(), &bytes, &for_training),
                   "query of a recurrent layer's workspace");
    if (bytes <= workspace.size_bytes()) return bytes;
    expect_success(cudaStreamSynchronize(stream), "work on the device");
    workspace = {};
    workspace = DeviceMemory(std::bit_ceil(bytes), kWorkspace);
    return bytes;
  }

  bool tf32;
  CudnnHandle handle;
  std::map<RecurrentShape, Layer> layers;
  CudnnRows x = make_owned<CudnnRows>(cudnn().create_rows, "rows of a recurrent layer");
  CudnnRows y = make_owned<CudnnRows>(cudnn().create_rows, "rows of a recurrent layer");
  CudnnTensor last = make_owned<CudnnTensor>(cudnn().create_tensor, "states of a recurrent layer");
  DeviceMemory workspace;
};

void Cudnn::run(cudaStream_t stream, const RecurrentShape& shape, const RecurrentCall& call) {
  if (call.lengths.empty()) return;
  if (!state_) state_ = std::make_shared<State>(tf32_);
  State& state = *state_;
  const State::Layer& layer = state.layer(shape);
  check(layer.weight_bytes == call.weights.size(), "recurrent layer: weights of another size");
  expect_success(cudnn().set_stream(state.handle.get(), stream), show(shape));
  state.describe(shape, call.lengths);
  const std::size_t bytes = state.reserve(stream, layer);
  // Since cuDNN 8.9.1 lengths need not be in device memory. Null initial states are zeros, and null
  // final states are not written.
  const cudnnTensorDescriptor_t last = state.last.get();
  const cudnnTensorDescriptor_t last_cell = shape.cell == RecurrentCell::lstm ? last : nullptr;
  expect_success(
      cudnn().forward(state.handle.get(), layer.descriptor.get(), CUDNN_FWD_MODE_INFERENCE, nullptr,
                      state.x.get(), call.x, state.y.get(), call.y, last, nullptr, nullptr,
                      last_cell, nullptr, nullptr, call.weights.size(), call.weights.data(), bytes,
                      state.workspace.data(), 0, nullptr),
      show(shape));
}

}  // namespace fuselage::cuda
