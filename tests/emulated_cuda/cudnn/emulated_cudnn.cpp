// cuDNN's recurrent layers of one direction on packed rows of floats, with its rules for them. A
// separate library, since programs load cuDNN at run time.
#include <cudnn.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "recurrent.h"
#include "tests/emulated_cuda/device_memory.h"
#include "tests/emulated_cuda/stream.h"

struct cudnnContext {
  cudaStream_t stream = nullptr;
};
struct cudnnTensorStruct {
  std::vector<int> dims, strides;
};
struct cudnnDropoutStruct {
  bool is_set = false;
};
struct cudnnRNNStruct {
  bool is_set = false;
  emulated_cuda::RecurrentLayer layer;
};
struct cudnnRNNDataStruct {
  int size = 0;
  std::vector<int> lengths;
};

namespace {

constexpr std::size_t kFloat = sizeof(float);

/// An object with functions that create and destroy it.
template <typename T>
cudnnStatus_t make(T** made) {
  if (!made) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  *made = new T;
  return CUDNN_STATUS_SUCCESS;
}
template <typename T>
cudnnStatus_t destroy(T* made) {
  delete made;
  return CUDNN_STATUS_SUCCESS;
}

void describe(cudnnTensorDescriptor_t tensor, std::vector<int> dims) {
  tensor->strides.assign(dims.size(), 1);
  for (std::size_t i = dims.size() - 1; i > 0; --i)
    tensor->strides[i - 1] = tensor->strides[i] * dims[i];
  tensor->dims = std::move(dims);
}

std::size_t rows_of(const cudnnRNNDataStruct& data) {
  return static_cast<std::size_t>(std::accumulate(data.lengths.begin(), data.lengths.end(), 0));
}

std::size_t work_bytes(const cudnnRNNStruct& layer, const cudnnRNNDataStruct& x) {
  return kFloat * rows_of(x) * static_cast<std::size_t>(layer.layer.gates() * layer.layer.units);
}

bool holds(const void* data, std::size_t bytes) {
  return emulated_cuda::device_memory().holds(data, bytes);
}

/// Whether a descriptor of states is of one layer, without gaps. Null is valid.
bool are_states(cudnnTensorDescriptor_t described, const void* data, const cudnnRNNStruct& layer,
                const cudnnRNNDataStruct& x) {
  if (!data) return true;
  cudnnTensorStruct wanted;
  const auto sentences = static_cast<int>(x.lengths.size());
  describe(&wanted, {1, sentences, layer.layer.units});
  return described && described->dims == wanted.dims && described->strides == wanted.strides &&
         holds(data, kFloat * static_cast<std::size_t>(sentences * layer.layer.units));
}

}  // namespace

// The functions of the library, with the names and parameters of its header.
extern "C" {

const char* cudnnGetErrorString(cudnnStatus_t status) {
  switch (status) {
    case CUDNN_STATUS_SUCCESS:
      return "CUDNN_STATUS_SUCCESS";
    case CUDNN_STATUS_BAD_PARAM:
      return "CUDNN_STATUS_BAD_PARAM";
    case CUDNN_STATUS_NOT_SUPPORTED:
      return "CUDNN_STATUS_NOT_SUPPORTED";
    default:
      return "a status of the emulated cuDNN";
  }
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) { return make(handle); }
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) { return destroy(handle); }
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* tensor) { return make(tensor); }
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor) {
  return destroy(tensor);
}
cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensor, cudnnDataType_t type,
                                         int count, const int dims[], const int strides[]) {
  if (type != CUDNN_DATA_FLOAT || count > CUDNN_DIM_MAX) return CUDNN_STATUS_NOT_SUPPORTED;
  if (count < 3 || std::any_of(dims, dims + count, [](int size) { return size <= 0; }))
    return CUDNN_STATUS_BAD_PARAM;
  tensor->dims.assign(dims, dims + count);
  tensor->strides.assign(strides, strides + count);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetTensorNdDescriptor(const cudnnTensorDescriptor_t tensor, int asked,
                                         cudnnDataType_t* type, int* count, int dims[],
                                         int strides[]) {
  *type = CUDNN_DATA_FLOAT;
  *count = static_cast<int>(tensor->dims.size());
  const int given = std::min(asked, *count);
  std::copy_n(tensor->dims.begin(), given, dims);
  std::copy_n(tensor->strides.begin(), given, strides);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateDropoutDescriptor(cudnnDropoutDescriptor_t* made) { return make(made); }
cudnnStatus_t cudnnDestroyDropoutDescriptor(cudnnDropoutDescriptor_t made) { return destroy(made); }
cudnnStatus_t cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t dropout, cudnnHandle_t handle,
                                        float share, void* states, size_t, unsigned long long) {
  if (!handle || (share != 0 && !states)) return CUDNN_STATUS_BAD_PARAM;
  dropout->is_set = true;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateRNNDescriptor(cudnnRNNDescriptor_t* layer) { return make(layer); }
cudnnStatus_t cudnnDestroyRNNDescriptor(cudnnRNNDescriptor_t layer) { return destroy(layer); }
cudnnStatus_t cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t layer, cudnnRNNAlgo_t algorithm,
                                       cudnnRNNMode_t mode, cudnnRNNBiasMode_t bias,
                                       cudnnDirectionMode_t direction, cudnnRNNInputMode_t input,
                                       cudnnDataType_t type, cudnnDataType_t precision,
                                       cudnnMathType_t math, int32_t inputs, int32_t units,
                                       int32_t projected, int32_t layers,
                                       cudnnDropoutDescriptor_t dropout, uint32_t) {
  const bool known = algorithm == CUDNN_RNN_ALGO_STANDARD &&
                     (mode == CUDNN_GRU || mode == CUDNN_LSTM) && bias == CUDNN_RNN_DOUBLE_BIAS &&
                     direction == CUDNN_UNIDIRECTIONAL && input == CUDNN_LINEAR_INPUT &&
                     type == CUDNN_DATA_FLOAT && precision == CUDNN_DATA_FLOAT && layers == 1 &&
                     (math == CUDNN_FMA_MATH || math == CUDNN_DEFAULT_MATH);
  if (!known) return CUDNN_STATUS_NOT_SUPPORTED;
  if (inputs <= 0 || units <= 0 || projected != units || !dropout || !dropout->is_set)
    return CUDNN_STATUS_BAD_PARAM;
  layer->layer = {mode == CUDNN_LSTM, inputs, units};
  layer->is_set = true;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t handle, cudnnRNNDescriptor_t layer,
                                         size_t* bytes) {
  if (!handle || !layer || !layer->is_set) return CUDNN_STATUS_BAD_PARAM;
  *bytes = layer->layer.weight_bytes();
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t handle, cudnnRNNDescriptor_t layer, int32_t at,
                                      size_t bytes, const void* space, int32_t part,
                                      cudnnTensorDescriptor_t matrix, void** matrix_at,
                                      cudnnTensorDescriptor_t bias, void** bias_at) {
  const bool known = handle && layer && layer->is_set && at == 0 && part >= 0 &&
                     part < layer->layer.parts() && bytes == layer->layer.weight_bytes();
  if (!known || !holds(space, bytes)) return CUDNN_STATUS_BAD_PARAM;
  auto* begin = static_cast<std::byte*>(const_cast<void*>(space));
  describe(matrix, {1, layer->layer.units, layer->layer.columns(part)});
  describe(bias, {1, layer->layer.units, 1});
  *matrix_at = begin + layer->layer.matrix_at(part);
  *bias_at = begin + layer->layer.bias_at(part);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateRNNDataDescriptor(cudnnRNNDataDescriptor_t* rows) { return make(rows); }
cudnnStatus_t cudnnDestroyRNNDataDescriptor(cudnnRNNDataDescriptor_t rows) { return destroy(rows); }
cudnnStatus_t cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t rows, cudnnDataType_t type,
                                        cudnnRNNDataLayout_t layout, int longest, int sentences,
                                        int size, const int lengths[], void*) {
  if (type != CUDNN_DATA_FLOAT || layout != CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED)
    return CUDNN_STATUS_NOT_SUPPORTED;
  if (longest <= 0 || sentences <= 0 || size <= 0) return CUDNN_STATUS_BAD_PARAM;
  std::vector<int> given(lengths, lengths + sentences);
  // Packed rows need the longest sentence first.
  if (given.front() > longest || given.back() < 0 ||
      !std::is_sorted(given.begin(), given.end(), std::greater<>()))
    return CUDNN_STATUS_BAD_PARAM;
  rows->size = size;
  rows->lengths = std::move(given);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t handle, cudnnRNNDescriptor_t layer,
                                        cudnnForwardMode_t mode, cudnnRNNDataDescriptor_t x,
                                        size_t* work, size_t* reserve) {
  if (mode != CUDNN_FWD_MODE_INFERENCE) return CUDNN_STATUS_NOT_SUPPORTED;
  if (!handle || !layer || !layer->is_set || !x || x->lengths.empty())
    return CUDNN_STATUS_BAD_PARAM;
  if (work) *work = work_bytes(*layer, *x);
  if (reserve) *reserve = 0;
  return CUDNN_STATUS_SUCCESS;
}

// Lengths in device memory are ignored, as since cuDNN 8.9.1.
cudnnStatus_t cudnnRNNForward(cudnnHandle_t handle, cudnnRNNDescriptor_t layer,
                              cudnnForwardMode_t mode, const int32_t[], cudnnRNNDataDescriptor_t x,
                              const void* x_data, cudnnRNNDataDescriptor_t y, void* y_data,
                              cudnnTensorDescriptor_t states, const void* state, void* last_state,
                              cudnnTensorDescriptor_t cells, const void* cell, void* last_cell,
                              size_t weight_bytes, const void* weights, size_t bytes, void* work,
                              size_t, void*) {
  if (mode != CUDNN_FWD_MODE_INFERENCE) return CUDNN_STATUS_NOT_SUPPORTED;
  const bool fit = handle && layer && layer->is_set && x && y && !x->lengths.empty() &&
                   x->lengths == y->lengths && x->size == layer->layer.inputs &&
                   y->size == layer->layer.units && weight_bytes == layer->layer.weight_bytes();
  if (!fit) return CUDNN_STATUS_BAD_PARAM;
  const std::size_t rows = rows_of(*x);
  const bool given = holds(x_data, kFloat * rows * static_cast<std::size_t>(x->size)) &&
                     holds(y_data, kFloat * rows * static_cast<std::size_t>(y->size)) &&
                     holds(weights, weight_bytes) && bytes >= work_bytes(*layer, *x) &&
                     holds(work, bytes);
  if (!given) return CUDNN_STATUS_BAD_PARAM;
  for (const void* data : {state, static_cast<const void*>(last_state)})
    if (!are_states(states, data, *layer, *x)) return CUDNN_STATUS_BAD_PARAM;
  for (const void* data : {cell, static_cast<const void*>(last_cell)})
    if (!are_states(cells, data, *layer, *x)) return CUDNN_STATUS_BAD_PARAM;
  if (handle->stream && handle->stream->capture) return CUDNN_STATUS_NOT_SUPPORTED;
  const emulated_cuda::RecurrentRun call{.layer = layer->layer,
                                         .lengths = x->lengths,
                                         .x = static_cast<const float*>(x_data),
                                         .state = static_cast<const float*>(state),
                                         .cell = static_cast<const float*>(cell),
                                         .y = static_cast<float*>(y_data),
                                         .last_state = static_cast<float*>(last_state),
                                         .last_cell = static_cast<float*>(last_cell),
                                         .weights = static_cast<const std::byte*>(weights)};
  const cudaError_t status = emulated_cuda::perform(handle->stream, [call, work, bytes] {
    std::memset(work, 0xff, bytes);  // shows reads of the workspace by others
    emulated_cuda::run(call);
  });
  return status == cudaSuccess ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED_CUDART;
}

}  // extern "C"
