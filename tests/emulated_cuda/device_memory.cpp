#include "device_memory.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "emulated_cuda/control.h"

namespace emulated_cuda {
namespace {

constexpr std::size_t kGuardBytes = 4096;
constexpr std::uint8_t kGuard = 0xa5;
constexpr std::uint8_t kGarbage = 0xff;  // NaN in every type of floats

std::atomic<std::int64_t> taken{0};

// What is asked for ends where the guard behind it begins; the start is aligned as cudaMalloc's.
std::size_t size_with_guards(std::size_t bytes) {
  constexpr std::size_t kAlignment = 4096;
  return (bytes + 2 * kGuardBytes + kAlignment - 1) / kAlignment * kAlignment;
}

void check_zone(const std::uint8_t* zone, std::uintptr_t data, std::size_t bytes) {
  const std::uint8_t* end = zone + kGuardBytes;
  const std::uint8_t* hit = std::find_if(zone, end, [](std::uint8_t b) { return b != kGuard; });
  if (hit == end) return;
  std::fprintf(stderr,
               "emulated CUDA: written outside of device memory: byte %lld of a piece of %zu "
               "(FUSELAGE_EMULATION_SEED=%llu)\n",
               static_cast<long long>(reinterpret_cast<std::uintptr_t>(hit) - data), bytes,
               static_cast<unsigned long long>(seed()));
  std::abort();
}

void check_piece(std::uintptr_t data, std::size_t bytes) {
  const auto* start = reinterpret_cast<const std::uint8_t*>(data);
  check_zone(start - kGuardBytes, data, bytes);
  check_zone(start + bytes, data, bytes);
}

}  // namespace

void* DeviceMemory::allocate(std::size_t bytes) {
  const std::size_t whole = size_with_guards(bytes);
  auto* memory = static_cast<std::uint8_t*>(std::aligned_alloc(kGuardBytes, whole));
  if (!memory) return nullptr;
  std::memset(memory, kGuard, whole);
  std::uint8_t* data = memory + kGuardBytes;
  std::memset(data, kGarbage, bytes);
  const std::lock_guard lock(mutex_);
  pieces_.emplace(reinterpret_cast<std::uintptr_t>(data), bytes);
  size_bytes_ += bytes;
  return data;
}

bool DeviceMemory::free(void* data) {
  const std::lock_guard lock(mutex_);
  const auto piece = pieces_.find(reinterpret_cast<std::uintptr_t>(data));
  if (piece == pieces_.end()) return false;
  check_piece(piece->first, piece->second);
  size_bytes_ -= piece->second;
  std::memset(data, kGarbage, piece->second);
  pieces_.erase(piece);
  std::free(static_cast<std::uint8_t*>(data) - kGuardBytes);
  return true;
}

bool DeviceMemory::holds(const void* data, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto start = reinterpret_cast<std::uintptr_t>(data);
  const auto after = pieces_.upper_bound(start);
  if (after == pieces_.begin()) return false;
  const auto& [first, size] = *std::prev(after);
  if (start >= first + size && (start > first || bytes > 0)) return false;
  if (start + bytes <= first + size) return true;
  std::fprintf(stderr, "emulated CUDA: %zu bytes from byte %zu of a piece of %zu\n", bytes,
               static_cast<std::size_t>(start - first), size);
  std::abort();
}

void DeviceMemory::check() {
  const std::lock_guard lock(mutex_);
  for (const auto& [data, bytes] : pieces_) check_piece(data, bytes);
}

std::size_t DeviceMemory::size_bytes() {
  const std::lock_guard lock(mutex_);
  return size_bytes_;
}

DeviceMemory& device_memory() {
  static auto* const memory = new DeviceMemory;  // outlives objects of the program that free late
  return *memory;
}

void count_allocation() { ++taken; }

std::int64_t allocations() { return taken; }

void check_guards() { device_memory().check(); }

}  // namespace emulated_cuda
