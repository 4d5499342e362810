#include "backends/cuda/device/runtime/staged_ints.h"

#include <algorithm>
#include <cstring>

#include "backends/cuda/device/runtime/launch.h"
#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

constexpr std::size_t kAlignment = 32;  ///< elements of a memory transaction of 128 bytes

constexpr Purpose kRows{"the row indexes of a batch", "use a smaller mini-batch"};

}  // namespace

StagedInts::Array StagedInts::add(std::int64_t size) {
  const Array array{size_, static_cast<std::size_t>(size)};
  size_ += (array.size + kAlignment - 1) / kAlignment * kAlignment;
  return array;
}

void StagedInts::allocate() {
  const std::size_t bytes = size_ * sizeof(std::int32_t);
  device_ = DeviceMemory(bytes, kRows);
  host_ = PinnedMemory(bytes);
  std::fill_n(host_.data(), bytes, std::byte{});
}

std::int32_t* StagedInts::device(const Array& array) const {
  return reinterpret_cast<std::int32_t*>(device_.data()) + array.begin;
}

void StagedInts::begin() { copied_.wait(); }

void StagedInts::fill(const Array& array, std::span<const std::int32_t> numbers) {
  check(numbers.size() <= array.size, "more rows than the layout has");
  std::copy(numbers.begin(), numbers.end(),
            reinterpret_cast<std::int32_t*>(host_.data()) + array.begin);
}

void StagedInts::fill(const Array& array, std::span<const float> numbers) {
  static_assert(sizeof(float) == sizeof(std::int32_t));
  check(numbers.size() <= array.size, "more numbers than the layout has");
  std::memcpy(host_.data() + array.begin * sizeof(float), numbers.data(), numbers.size_bytes());
}

void StagedInts::copy(const Stream& stream) {
  expect_success(cudaMemcpyAsync(device_.data(), host_.data(), size_ * sizeof(std::int32_t),
                                 cudaMemcpyHostToDevice, stream.get()),
                 "copy of row indexes");
  copied_.record(stream);
}

}  // namespace fuselage::cuda
