#pragma once

#include <algorithm>
#include <atomic>

// NOLINTBEGIN(readability-identifier-naming): CUDA gave the names.

namespace emulated_cuda {

/// Replaces the old value by change(old). Returns the old value.
template <typename T, typename Change>
T exchange_atomically(T* place, const Change& change) {
  std::atomic_ref<T> shared(*place);
  T old = shared.load();
  while (!shared.compare_exchange_weak(old, change(old))) {
  }
  return old;
}

}  // namespace emulated_cuda

template <typename T>
T atomicAdd(T* place, T value) {
  return emulated_cuda::exchange_atomically(place, [&](T old) { return old + value; });
}
template <typename T>
T atomicSub(T* place, T value) {
  return emulated_cuda::exchange_atomically(place, [&](T old) { return old - value; });
}
template <typename T>
T atomicMax(T* place, T value) {
  return emulated_cuda::exchange_atomically(place, [&](T old) { return std::max(old, value); });
}
template <typename T>
T atomicMin(T* place, T value) {
  return emulated_cuda::exchange_atomically(place, [&](T old) { return std::min(old, value); });
}
template <typename T>
T atomicOr(T* place, T value) {
  return emulated_cuda::exchange_atomically(place, [&](T old) { return old | value; });
}
template <typename T>
T atomicExch(T* place, T value) {
  return emulated_cuda::exchange_atomically(place, [&](T) { return value; });
}
template <typename T>
T atomicCAS(T* place, T expected, T value) {
  return emulated_cuda::exchange_atomically(place,
                                            [&](T old) { return old == expected ? value : old; });
}

// NOLINTEND(readability-identifier-naming)
