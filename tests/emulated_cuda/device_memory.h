#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace emulated_cuda {

/// The allocations of cudaMalloc on all devices, filled with NaN and with a guard zone on each
/// side. The host may access them only while a DeviceAccess lives, which is checked for a sample of
/// accesses.
class DeviceMemory {
 public:
  DeviceMemory();

  /// Null if the device has no more so much memory.
  void* allocate(std::size_t bytes, int device);
  /// False if the address is not the start of an allocation. Aborts if a guard zone was written.
  bool free(void* data);

  /// True if these bytes are within an allocation, false if none is device memory. Aborts if they
  /// overlap the end of an allocation.
  bool holds(const void* data, std::size_t bytes);

  /// Whether the allocation with this address is memory of the device.
  bool is_on(const void* data, int device);

  /// Aborts if a guard zone was written.
  void check();

  /// Allocated memory of the device.
  std::size_t size_bytes(int device);

  bool contains(const void* address) const { return address >= arena_ && address < arena_end_; }

 private:
  friend class DeviceAccess;

  struct Piece {
    std::size_t bytes;
    int device;
  };

  std::size_t used(int device) const;
  std::uint8_t* take(std::size_t whole);
  void give_back(std::uint8_t* start, std::size_t whole);
  void protect(int protection) const;

  std::mutex mutex_;
  std::uint8_t *arena_, *arena_end_, *used_end_;
  std::map<std::uint8_t*, Piece> pieces_;
  std::map<std::uint8_t*, std::size_t> gaps_;  ///< free address ranges
  std::size_t size_bytes_ = 0;
  int accesses_ = 0;
  int spared_ = 0;  ///< accesses since memory was last protected
  bool protected_ = false;
};

DeviceMemory& device_memory();

/// Device memory is accessible while an instance lives: access by the device.
class DeviceAccess {
 public:
  DeviceAccess();
  ~DeviceAccess();
  DeviceAccess(const DeviceAccess&) = delete;
  DeviceAccess& operator=(const DeviceAccess&) = delete;
};

/// Memory of each device: set_memory(), else FUSELAGE_EMULATION_MEMORY in kB, else 4 GiB.
std::size_t memory_of_device();

/// Counts an allocation for allocations(). False if it must fail.
bool count_allocation();

}  // namespace emulated_cuda
