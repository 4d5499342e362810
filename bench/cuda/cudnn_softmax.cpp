#include "bench/cuda/cudnn_softmax.h"

#ifdef FUSELAGE_CUDNN_FOUND

#include <memory>

#include "backends/cuda/cudnn.h"
#include "backends/cuda/device/recurrent/cudnn_functions.h"

namespace fuselage::cuda {
namespace {

constexpr const char* kWhat = "cuDNN's softmax";

class CudnnSoftmax {
 public:
  void operator()(cudaStream_t stream, const float* in, float* out, std::int64_t rows,
                  std::int32_t columns) const {
    constexpr float kOne = 1;
    constexpr float kZero = 0;
    // An image for each row, with columns as channels.
    const int dims[] = {static_cast<int>(rows), columns, 1, 1};
    const int strides[] = {columns, 1, 1, 1};
    expect_success(cudnn().set_tensor(matrix_.get(), CUDNN_DATA_FLOAT, 4, dims, strides), kWhat);
    expect_success(cudnn().set_stream(handle_.get(), stream), kWhat);
    expect_success(softmax_(handle_.get(), CUDNN_SOFTMAX_LOG, CUDNN_SOFTMAX_MODE_INSTANCE, &kOne,
                            matrix_.get(), in, &kZero, matrix_.get(), out),
                   kWhat);
  }

 private:
  decltype(&cudnnSoftmaxForward) softmax_ = CudnnFunction("cudnnSoftmaxForward");
  CudnnHandle handle_ = make_owned<CudnnHandle>(cudnn().create, "start of cuDNN");
  CudnnTensor matrix_ = make_owned<CudnnTensor>(cudnn().create_tensor, kWhat);
};

}  // namespace

LogSoftmax cudnn_log_softmax() {
  if (!cudnn_library()) return nullptr;
  return
      [softmax = std::make_shared<CudnnSoftmax>()](auto... arguments) { (*softmax)(arguments...); };
}

}  // namespace fuselage::cuda

#else

namespace fuselage::cuda {

LogSoftmax cudnn_log_softmax() { return nullptr; }

}  // namespace fuselage::cuda

#endif
