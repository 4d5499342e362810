#include "device_memory.h"

#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include "emulated_cuda/control.h"
#include "failure.h"
#include "stream.h"

namespace emulated_cuda {
namespace {

constexpr std::size_t kArenaBytes = std::size_t{64} << 30;  // address space, not memory
constexpr std::size_t kGuardBytes = 4096;                   // a page
constexpr std::uint8_t kGuard = 0xa5;
constexpr std::uint8_t kGarbage = 0xff;  // NaN in every type of floats
constexpr std::size_t kFilledBytes = std::size_t{1} << 20;
// Memory protection takes time per page, so large allocations are protected only once in so many
// accesses.
constexpr std::size_t kLittleMemory = std::size_t{1} << 18;
constexpr int kSeldom = 64;

std::atomic<std::int64_t> taken{0};
std::atomic<std::int64_t> left_to_failure{0};
std::atomic<std::size_t> set_bytes{0};

std::size_t size_with_guards(std::size_t bytes) {
  return (bytes + 3 * kGuardBytes - 1) / kGuardBytes * kGuardBytes;
}

void check_zone(const std::uint8_t* zone, const std::uint8_t* data, std::size_t bytes) {
  const std::uint8_t* end = zone + kGuardBytes;
  const std::uint8_t* hit = std::find_if(zone, end, [](std::uint8_t b) { return b != kGuard; });
  if (hit == end) return;
  fail(
      fmt::format("written outside of device memory: byte {} of a piece of {}", hit - data, bytes));
}

void check_piece(const std::uint8_t* data, std::size_t bytes) {
  check_zone(data - kGuardBytes, data, bytes);
  check_zone(data + bytes, data, bytes);
}

// The middle of a large allocation stays zero, to save time.
void fill(std::uint8_t* data, std::size_t bytes) {
  const std::size_t filled = std::min(bytes, kFilledBytes);
  std::memset(data, kGarbage, filled);
  std::memset(data + bytes - filled, kGarbage, filled);
}

// Explains a fault of the host in device memory; other faults get the default action.
void on_fault(int, siginfo_t* info, void*) {
  if (device_memory().contains(info->si_addr)) fail("the host touches device memory");
  std::signal(SIGSEGV, SIG_DFL);
}

}  // namespace

DeviceMemory::DeviceMemory() {
  void* arena =
      mmap(nullptr, kArenaBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (arena == MAP_FAILED) fail("there are no addresses for device memory");
  arena_ = used_end_ = static_cast<std::uint8_t*>(arena);
  arena_end_ = arena_ + kArenaBytes;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
}

void DeviceMemory::protect(int protection) const {
  mprotect(arena_, static_cast<std::size_t>(used_end_ - arena_), protection);
}

std::uint8_t* DeviceMemory::take(std::size_t whole) {
  const auto gap = std::find_if(gaps_.begin(), gaps_.end(), [whole](const auto& candidate) {
    return candidate.second >= whole;
  });
  if (gap != gaps_.end()) {
    const auto [start, bytes] = *gap;
    gaps_.erase(gap);
    if (bytes > whole) gaps_.emplace(start + whole, bytes - whole);
    return start;
  }
  if (static_cast<std::size_t>(arena_end_ - used_end_) < whole) return nullptr;
  std::uint8_t* start = used_end_;
  used_end_ += whole;
  protect(PROT_READ | PROT_WRITE);
  return start;
}

void DeviceMemory::give_back(std::uint8_t* start, std::size_t whole) {
  madvise(start, whole, MADV_DONTNEED);
  const auto after = gaps_.find(start + whole);
  if (after != gaps_.end()) {
    whole += after->second;
    gaps_.erase(after);
  }
  const auto gap = gaps_.emplace(start, whole).first;
  if (gap == gaps_.begin()) return;
  const auto before = std::prev(gap);
  if (before->first + before->second != start) return;
  before->second += whole;
  gaps_.erase(gap);
}

std::size_t DeviceMemory::used(int device) const {
  std::size_t bytes = 0;
  for (const auto& [data, piece] : pieces_)
    if (piece.device == device) bytes += piece.bytes;
  return bytes;
}

void* DeviceMemory::allocate(std::size_t bytes, int device) {
  const DeviceAccess access;
  const std::size_t whole = size_with_guards(bytes);
  const std::lock_guard lock(mutex_);
  if (bytes > memory_of_device() || used(device) > memory_of_device() - bytes) return nullptr;
  std::uint8_t* memory = take(whole);
  if (!memory) return nullptr;
  std::uint8_t* data = memory + kGuardBytes;
  std::memset(memory, kGuard, kGuardBytes);
  std::memset(data + bytes, kGuard, whole - kGuardBytes - bytes);
  fill(data, bytes);
  pieces_.emplace(data, Piece{bytes, device});
  size_bytes_ += bytes;
  return data;
}

bool DeviceMemory::free(void* data) {
  const DeviceAccess access;
  const std::lock_guard lock(mutex_);
  const auto piece = pieces_.find(static_cast<std::uint8_t*>(data));
  if (piece == pieces_.end()) return false;
  std::uint8_t* const start = piece->first;
  const std::size_t bytes = piece->second.bytes;
  check_piece(start, bytes);
  size_bytes_ -= bytes;
  pieces_.erase(piece);
  give_back(start - kGuardBytes, size_with_guards(bytes));
  return true;
}

bool DeviceMemory::holds(const void* data, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  auto* start = static_cast<std::uint8_t*>(const_cast<void*>(data));
  const auto after = pieces_.upper_bound(start);
  if (after == pieces_.begin()) return false;
  const auto& [first, piece] = *std::prev(after);
  const std::size_t size = piece.bytes;
  if (start >= first + size && (start > first || bytes > 0)) return false;
  if (start + bytes <= first + size) return true;
  fail(fmt::format("{} bytes from byte {} of a piece of {}", bytes, start - first, size));
}

bool DeviceMemory::is_on(const void* data, int device) {
  const std::lock_guard lock(mutex_);
  auto* start = static_cast<std::uint8_t*>(const_cast<void*>(data));
  const auto after = pieces_.upper_bound(start);
  return after != pieces_.begin() && std::prev(after)->second.device == device;
}

void DeviceMemory::check() {
  const DeviceAccess access;
  const std::lock_guard lock(mutex_);
  for (const auto& [data, piece] : pieces_) check_piece(data, piece.bytes);
}

std::size_t DeviceMemory::size_bytes(int device) {
  const std::lock_guard lock(mutex_);
  return used(device);
}

DeviceMemory& device_memory() {
  static auto* const memory = new DeviceMemory;  // outlives static objects that free memory
  return *memory;
}

DeviceAccess::DeviceAccess() {
  DeviceMemory& memory = device_memory();
  const std::lock_guard lock(memory.mutex_);
  if (memory.accesses_++ > 0 || !std::exchange(memory.protected_, false)) return;
  memory.protect(PROT_READ | PROT_WRITE);
}

DeviceAccess::~DeviceAccess() {
  DeviceMemory& memory = device_memory();
  const std::lock_guard lock(memory.mutex_);
  if (--memory.accesses_ > 0) return;
  if (memory.size_bytes_ > kLittleMemory && ++memory.spared_ % kSeldom != 0) return;
  memory.protect(PROT_NONE);
  memory.protected_ = true;
}

std::size_t memory_of_device() {
  if (set_bytes > 0) return set_bytes;
  const char* const kilobytes = std::getenv("FUSELAGE_EMULATION_MEMORY");
  return kilobytes ? std::strtoull(kilobytes, nullptr, 10) * 1000 : std::size_t{4} << 30;
}
std::size_t memory_in_use() { return device_memory().size_bytes(device_of_thread()); }
void set_memory(std::size_t bytes) { set_bytes = bytes; }

bool count_allocation() {
  ++taken;
  std::int64_t left = left_to_failure;
  while (left > 1 && !left_to_failure.compare_exchange_weak(left, left - 1)) {
  }
  return left != 1;
}

std::int64_t allocations() { return taken; }
void fail_allocation(std::int64_t number) { left_to_failure = number; }

void check_guards() { device_memory().check(); }

}  // namespace emulated_cuda
