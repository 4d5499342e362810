#include "backends/cuda/device/recurrent/cudnn_functions.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "backends/cuda/cudnn.h"
#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

constexpr const char* kAdvice = "set FUSELAGE_CUDNN=none to go without cuDNN";

}  // namespace

CudnnFunction::CudnnFunction(const char* name)
    : address_(cudnn_library() ? ::dlsym(cudnn_library(), name) : nullptr) {
  if (!address_)
    throw Error(
        fmt::format("the cuDNN library has no function {}; install cuDNN 9, or {}", name, kAdvice));
}

const CudnnFunctions& cudnn() {
  static const CudnnFunctions functions;
  return functions;
}

void expect_success(cudnnStatus_t status, std::string_view what) {
  if (status != CUDNN_STATUS_SUCCESS)
    throw Error(
        fmt::format("{}: cuDNN failed: {}; {}", what, cudnn().error_string(status), kAdvice));
}

}  // namespace fuselage::cuda
