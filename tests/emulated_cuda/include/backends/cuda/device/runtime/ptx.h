#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "emulated_cuda/ptx.h"

// The functions of the product's header of the same path, without assembly.

namespace fuselage::cuda {

inline void wait_for_earlier_kernels() { emulated_cuda::wait_for_earlier_kernels(); }
inline void let_next_kernel_start() {}

inline uint4 load_once(const uint4* from) { return *from; }

inline float fast_exp2(float x) {
  const float result = std::exp2(x);
  return std::abs(result) < 0x1p-126f ? 0.0f : result;
}

// --- Copies execute when waited for, so that early reads find the old contents ---

inline void begin_copy(void* shared, const void* global, bool is_there) {
  emulated_cuda::Copy copy{.to = shared, .bytes = {}};
  if (is_there) std::memcpy(copy.bytes.data(), global, copy.bytes.size());
  emulated_cuda::copies_of_thread().open.push_back(copy);
}

inline void end_copy_group() {
  emulated_cuda::CopyGroups& groups = emulated_cuda::copies_of_thread();
  groups.ended.push_back(std::move(groups.open));
  groups.open.clear();
}

template <int kLeft>
void wait_for_copy_groups() {
  auto& ended = emulated_cuda::copies_of_thread().ended;
  while (ended.size() > kLeft) {
    for (const emulated_cuda::Copy& copy : ended.front())
      std::memcpy(copy.to, copy.bytes.data(), copy.bytes.size());
    ended.erase(ended.begin());
  }
}

// --- Tensor cores: lanes exchange their fragments through memory of the block ---

/// The lower or upper 16 bits, as a number of T.
template <typename T>
float emulated_half(std::uint32_t bits, std::uint32_t upper) {
  const auto half = static_cast<std::uint16_t>(bits >> (16 * upper));
  T number;
  std::memcpy(static_cast<void*>(&number), &half, sizeof half);
  return static_cast<float>(number);
}

inline void load_matrices(const void* row, std::uint32_t (&fragments)[4]) {
  const std::uint32_t lane = emulated_cuda::lane();
  emulated_cuda::brought_by(lane).row = row;
  __syncwarp();
  for (std::uint32_t matrix = 0; matrix < 4; ++matrix) {
    const auto* from =
        static_cast<const std::byte*>(emulated_cuda::brought_by(matrix * 8 + lane / 4).row);
    std::memcpy(&fragments[matrix], from + lane % 4 * 4, 4);
  }
  __syncwarp();
}

template <typename T>
void multiply_add(const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
                  float (&sums)[4]) {
  const std::uint32_t lane = emulated_cuda::lane();
  emulated_cuda::brought_by(lane).fragments = {a[0], a[1], a[2], a[3], b0, b1};
  __syncwarp();
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t row = lane / 4;
    const std::uint32_t column = lane % 4 * 2 + i % 2;
    for (std::uint32_t k = 0; k < 16; ++k) {
      const std::uint32_t place = k % 8 / 2;
      const auto& x = emulated_cuda::brought_by(row * 4 + place).fragments;
      const auto& w = emulated_cuda::brought_by(column * 4 + place).fragments;
      sums[i] +=
          emulated_half<T>(x[i / 2 + k / 8 * 2], k % 2) * emulated_half<T>(w[4 + k / 8], k % 2);
    }
  }
  __syncwarp();
}

}  // namespace fuselage::cuda
