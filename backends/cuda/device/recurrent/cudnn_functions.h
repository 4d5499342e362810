#pragma once

#include <cudnn.h>

#include <memory>
#include <string_view>
#include <type_traits>

namespace fuselage::cuda {

// cuDNN is loaded at run time, not linked, so that the module also loads without cuDNN.

/// The address of a function of cuDNN, convertible to its pointer type.
class CudnnFunction {
 public:
  /// Throws Error when the library does not load or does not have the function.
  explicit CudnnFunction(const char* name);

  template <typename Function>
  operator Function*() const {  // NOLINT(google-explicit-constructor): the purpose of the class
    return reinterpret_cast<Function*>(address_);
  }

 private:
  void* address_;
};

/// The functions that recurrent layers need.
struct CudnnFunctions {
  using Name = CudnnFunction;
  decltype(&cudnnGetErrorString) error_string = Name("cudnnGetErrorString");
  decltype(&cudnnCreate) create = Name("cudnnCreate");
  decltype(&cudnnDestroy) destroy = Name("cudnnDestroy");
  decltype(&cudnnSetStream) set_stream = Name("cudnnSetStream");

  decltype(&cudnnCreateTensorDescriptor) create_tensor = Name("cudnnCreateTensorDescriptor");
  decltype(&cudnnDestroyTensorDescriptor) destroy_tensor = Name("cudnnDestroyTensorDescriptor");
  decltype(&cudnnSetTensorNdDescriptor) set_tensor = Name("cudnnSetTensorNdDescriptor");
  decltype(&cudnnGetTensorNdDescriptor) get_tensor = Name("cudnnGetTensorNdDescriptor");

  decltype(&cudnnCreateDropoutDescriptor) create_dropout = Name("cudnnCreateDropoutDescriptor");
  decltype(&cudnnDestroyDropoutDescriptor) destroy_dropout = Name("cudnnDestroyDropoutDescriptor");
  decltype(&cudnnSetDropoutDescriptor) set_dropout = Name("cudnnSetDropoutDescriptor");

  decltype(&cudnnCreateRNNDescriptor) create_layer = Name("cudnnCreateRNNDescriptor");
  decltype(&cudnnDestroyRNNDescriptor) destroy_layer = Name("cudnnDestroyRNNDescriptor");
  decltype(&cudnnSetRNNDescriptor_v8) set_layer = Name("cudnnSetRNNDescriptor_v8");
  decltype(&cudnnGetRNNWeightSpaceSize) weight_size = Name("cudnnGetRNNWeightSpaceSize");
  decltype(&cudnnGetRNNWeightParams) weight_params = Name("cudnnGetRNNWeightParams");
  decltype(&cudnnGetRNNTempSpaceSizes) temp_sizes = Name("cudnnGetRNNTempSpaceSizes");
  decltype(&cudnnRNNForward) forward = Name("cudnnRNNForward");

  decltype(&cudnnCreateRNNDataDescriptor) create_rows = Name("cudnnCreateRNNDataDescriptor");
  decltype(&cudnnDestroyRNNDataDescriptor) destroy_rows = Name("cudnnDestroyRNNDataDescriptor");
  decltype(&cudnnSetRNNDataDescriptor) set_rows = Name("cudnnSetRNNDataDescriptor");
};

/// The function table, loaded at the first call. Throws Error when cuDNN does not load or lacks a
/// function.
const CudnnFunctions& cudnn();

/// Throws Error with cuDNN's message unless `status` is success. `what` names the attempted call.
void expect_success(cudnnStatus_t status, std::string_view what);

/// A handle or descriptor of cuDNN, freed by kDestroy.
template <typename Pointer, auto kDestroy>
struct DestroyByCudnn {
  void operator()(Pointer pointer) const { static_cast<void>((cudnn().*kDestroy)(pointer)); }
};
template <typename Pointer, auto kDestroy>
using CudnnOwned =
    std::unique_ptr<std::remove_pointer_t<Pointer>, DestroyByCudnn<Pointer, kDestroy>>;

using CudnnHandle = CudnnOwned<cudnnHandle_t, &CudnnFunctions::destroy>;
using CudnnTensor = CudnnOwned<cudnnTensorDescriptor_t, &CudnnFunctions::destroy_tensor>;
using CudnnDropout = CudnnOwned<cudnnDropoutDescriptor_t, &CudnnFunctions::destroy_dropout>;
using CudnnLayer = CudnnOwned<cudnnRNNDescriptor_t, &CudnnFunctions::destroy_layer>;
using CudnnRows = CudnnOwned<cudnnRNNDataDescriptor_t, &CudnnFunctions::destroy_rows>;

/// Creates a handle or descriptor by `create`, a function of the table.
template <class Owned>
Owned make_owned(cudnnStatus_t (*create)(typename Owned::pointer*), std::string_view what) {
  typename Owned::pointer created = nullptr;
  expect_success(create(&created), what);
  return Owned(created);
}

}  // namespace fuselage::cuda
