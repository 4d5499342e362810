#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace emulated_cuda {

/// What cudaMalloc gives: each piece stands between two guard zones, and begins as NaN. The host
/// may touch it only while a DeviceAccess lives; that it does not is looked at now and then.
class DeviceMemory {
 public:
  DeviceMemory();

  void* allocate(std::size_t bytes);
  /// False if this is no start of a piece. Aborts if something was written next to it.
  bool free(void* data);

  /// True if these bytes lie in a piece, false if none of them is device memory; aborts where they
  /// overlap the end of a piece.
  bool holds(const void* data, std::size_t bytes);

  /// Aborts if something was written next to a piece.
  void check();

  std::size_t size_bytes();

  bool contains(const void* address) const { return address >= arena_ && address < arena_end_; }

 private:
  friend class DeviceAccess;

  std::uint8_t* take(std::size_t whole);
  void give_back(std::uint8_t* start, std::size_t whole);
  void protect(int protection) const;

  std::mutex mutex_;
  std::uint8_t *arena_, *arena_end_, *used_end_;
  std::map<std::uint8_t*, std::size_t> pieces_;
  std::map<std::uint8_t*, std::size_t> gaps_;  ///< between pieces
  std::size_t size_bytes_ = 0;
  int accesses_ = 0;
  int spared_ = 0;  ///< times that it was not protected behind an access
  bool protected_ = false;
};

DeviceMemory& device_memory();

/// While one lives, device memory can be read and written, as the device does.
class DeviceAccess {
 public:
  DeviceAccess();
  ~DeviceAccess();
  DeviceAccess(const DeviceAccess&) = delete;
  DeviceAccess& operator=(const DeviceAccess&) = delete;
};

/// Counts towards allocations(); false if this one is to fail.
bool count_allocation();

}  // namespace emulated_cuda
