#include "fuselage/base/stack.h"

#include <fmt/format.h>
#include <pthread.h>

#include <cstdint>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

/// Addresses of a thread's stack, which grows down from `high`.
struct StackBounds {
  std::uintptr_t low = 0, high = 0;
};

/// All zero if the system does not tell.
StackBounds stack_of_thread() {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return {};
  void* low = nullptr;
  std::size_t size = 0;
  const bool known = ::pthread_attr_getstack(&attributes, &low, &size) == 0;
  ::pthread_attr_destroy(&attributes);
  if (!known) return {};
  const auto begin = reinterpret_cast<std::uintptr_t>(low);
  return {begin, begin + size};
}

/// Out of line, so that the frames of formatting are not part of every check.
[[noreturn, gnu::noinline]] void refuse_stack(std::size_t left) {
  throw Error(fmt::format(
      "the calling thread has {} KiB of stack left, but {} KiB are needed; start it with a larger "
      "stack",
      left >> 10, kMinStackBytes >> 10));
}

}  // namespace

void expect_stack() {
  // Asking the system takes some microseconds.
  static thread_local const StackBounds stack = stack_of_thread();
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (here < stack.low || here >= stack.high) return;
  if (here - stack.low < kMinStackBytes) refuse_stack(here - stack.low);
}

}  // namespace fuselage
