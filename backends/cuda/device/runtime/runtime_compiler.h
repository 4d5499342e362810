#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <string>

namespace fuselage::cuda {

// Kernels out of text that is made at run time, by NVRTC.

/// "sm_90": the architecture of the current device, and that one where there is none.
std::string device_architecture();

/// Machine code (a cubin) of CUDA C++ for an architecture. Numbers are those that the text says:
/// products and sums are not contracted. Needs no device. Throws Error with the compiler's
/// messages.
std::string compile_cubin(const std::string& source, const std::string& architecture);

/// Where cubins are kept between processes: $XDG_CACHE_HOME/fuselage/cuda, else
/// ~/.cache/fuselage/cuda; empty: nowhere.
std::string cubin_directory();

/// The same cubin out of a file in `directory`, under a name that follows from text, architecture
/// and compiler. What is not there, or damaged, is compiled and put there, if that is possible.
std::string cached_cubin(const std::string& source, const std::string& architecture,
                         const std::string& directory);

/// Kernels of one cubin on the device.
class KernelLibrary {
 public:
  explicit KernelLibrary(const std::string& cubin);
  ~KernelLibrary();
  KernelLibrary(const KernelLibrary&) = delete;
  KernelLibrary& operator=(const KernelLibrary&) = delete;

  /// A kernel by its name without mangling; for cudaLaunchKernelExC, which takes it as an address.
  const void* kernel(const char* name) const;

 private:
  cudaLibrary_t library_ = nullptr;
};

/// The kernels of a text for the current device, compiled and loaded once a process.
std::shared_ptr<const KernelLibrary> load_kernels(const std::string& source);

}  // namespace fuselage::cuda
