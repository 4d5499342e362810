// Loading of kernels that the emulated NVRTC compiled.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "emulated_cuda/launch.h"
#include "stream.h"

struct CUkern_st {
  void (*call)(const void*) = nullptr;
  std::size_t bytes = 0;  ///< size of the parameter
};

struct CUlib_st {
  int file = -1;  ///< kept open, since the loader identifies objects by path
  void* object = nullptr;
  std::vector<std::unique_ptr<CUkern_st>> kernels;
};

namespace {

using emulated_cuda::report;

std::mutex kernels_mutex;
std::set<const void*> kernels;

// The section headers are at the end of the linker's output.
std::size_t size_of(const Elf64_Ehdr& header) {
  return header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize;
}

/// Makes the emulation's symbols visible to kernels and to the emulated cuDNN, also if the
/// emulation is part of a module that was loaded with local symbols.
bool export_symbols() {
  Dl_info self;
  return dladdr(reinterpret_cast<const void*>(&size_of), &self) != 0 &&
         dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL) != nullptr;
}
[[maybe_unused]] const bool kExported = export_symbols();

void load(const void* code, CUlib_st& library) {
  Elf64_Ehdr header;
  std::memcpy(&header, code, SELFMAG);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return;
  std::memcpy(&header, code, sizeof header);
  library.file = memfd_create("kernels", 0);
  const auto bytes = static_cast<ssize_t>(size_of(header));
  if (library.file < 0 || write(library.file, code, size_of(header)) != bytes) return;
  const std::string path = "/proc/self/fd/" + std::to_string(library.file);
  library.object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

void unload(const CUlib_st& library) {
  if (library.object) dlclose(library.object);
  if (library.file >= 0) close(library.file);
}

bool is_kernel(const void* function) {
  const std::lock_guard lock(kernels_mutex);
  return kernels.contains(function);
}

}  // namespace

extern "C" {

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**,
                                unsigned, cudaLibraryOption*, void**, unsigned) {
  auto loaded = std::make_unique<CUlib_st>();
  load(code, *loaded);
  if (!loaded->object) {
    unload(*loaded);
    return report(cudaErrorInvalidKernelImage);
  }
  *library = loaded.release();
  return cudaSuccess;
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  void* call = dlsym(library->object, (std::string(name) + "_call").c_str());
  const void* bytes = dlsym(library->object, (std::string(name) + "_bytes").c_str());
  if (!call || !bytes) return report(cudaErrorSymbolNotFound);
  auto made = std::make_unique<CUkern_st>();
  made->call = reinterpret_cast<void (*)(const void*)>(call);
  made->bytes = *static_cast<const unsigned long*>(bytes);
  *kernel = made.get();
  const std::lock_guard lock(kernels_mutex);
  kernels.insert(made.get());
  library->kernels.push_back(std::move(made));
  return cudaSuccess;
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  emulated_cuda::finish_all();
  {
    const std::lock_guard lock(kernels_mutex);
    for (const auto& kernel : library->kernels) kernels.erase(kernel.get());
  }
  unload(*library);
  delete library;
  return cudaSuccess;
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  if (!is_kernel(function)) return report(cudaErrorInvalidDeviceFunction);
  const auto& kernel = *static_cast<const CUkern_st*>(function);
  std::vector<std::max_align_t> parameter(kernel.bytes / sizeof(std::max_align_t) + 1);
  std::memcpy(parameter.data(), arguments[0], kernel.bytes);
  return emulated_cuda::enqueue(
      *config, function,
      [call = kernel.call, parameter = std::move(parameter)] { call(parameter.data()); });
}

}  // extern "C"
