#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <string>

namespace fuselage::cuda {

// Run-time compilation of kernels by NVRTC.

/// The architecture of the current device, as in "sm_90"; "sm_90" without a device.
std::string device_architecture();

/// Compiles CUDA C++ to machine code (a cubin) for an architecture, without contraction of products
/// and sums. Needs no device. Throws Error with the compiler's messages.
std::string compile_cubin(const std::string& source, const std::string& architecture);

/// The folder of cached cubins: $XDG_CACHE_HOME/fuselage/cuda, else ~/.cache/fuselage/cuda. Empty
/// where neither variable is set: no cache.
std::string cubin_directory();

/// compile_cubin() with a cache in `directory`. The file name is a hash of source, architecture and
/// compiler version. Missing and damaged files are compiled again and written where possible.
std::string cached_cubin(const std::string& source, const std::string& architecture,
                         const std::string& directory);

/// The kernels of a cubin, loaded on the device.
class KernelLibrary {
 public:
  explicit KernelLibrary(const std::string& cubin);
  ~KernelLibrary();
  KernelLibrary(const KernelLibrary&) = delete;
  KernelLibrary& operator=(const KernelLibrary&) = delete;

  /// A kernel by its unmangled name, as the address that cudaLaunchKernelExC() takes.
  const void* kernel(const char* name) const;

 private:
  cudaLibrary_t library_ = nullptr;
};

/// The kernels of a source for the current device, compiled and loaded once per process.
std::shared_ptr<const KernelLibrary> load_kernels(const std::string& source);

}  // namespace fuselage::cuda
