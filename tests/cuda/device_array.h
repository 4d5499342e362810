#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "backends/cuda/device/runtime/launch.h"

namespace fuselage::cuda {

/// An array in device memory, for tests.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& values) : size_(values.size()) {
    if (size_ == 0) return;
    expect_success(cudaMalloc(&data_, size_bytes()), "device memory");
    expect_success(cudaMemcpy(data_, values.data(), size_bytes(), cudaMemcpyHostToDevice),
                   "copy to the device");
    // The copy may be incomplete, and non-blocking streams do not wait for it.
    expect_success(cudaStreamSynchronize(nullptr), "copy to the device");
  }
  explicit DeviceArray(std::size_t size, T value = {}) : DeviceArray(std::vector<T>(size, value)) {}
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t size_bytes() const { return size_ * sizeof(T); }

  /// A copy on the host, after all work of the device.
  std::vector<T> to_host() const {
    std::vector<T> values(size_);
    expect_success(cudaDeviceSynchronize(), "work on the device");
    if (size_ > 0)
      expect_success(cudaMemcpy(values.data(), data_, size_bytes(), cudaMemcpyDeviceToHost),
                     "copy from the device");
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Skips without a GPU. Under emulation, also checks for writes out of bounds.
class CudaTest : public ::testing::Test {
 protected:
  // Skips in the constructor, since members of fixtures may call CUDA.
  CudaTest() {
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) return;
    [] { GTEST_SKIP() << "there is no GPU"; }();
    using ::testing::TestPartResult;
    throw ::testing::AssertionException({TestPartResult::kSkip, nullptr, 0, "there is no GPU"});
  }

  void SetUp() override {
    expect_success(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream");
  }
  void TearDown() override {
    if (!stream_) return;
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    cudaStreamDestroy(stream_);
  }

  cudaStream_t stream() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace fuselage::cuda
