#include "backends/cuda/cuda_backend.h"

#include <dlfcn.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "backends/cuda/kernel_table.h"
#include "backends/cuda/module.h"
#include "base/error.h"

namespace fuselage {
namespace {

constexpr const char* kModuleFile = "libfuselage_cuda.so";
constexpr const char* kModuleVariable = "FUSELAGE_CUDA_MODULE";
constexpr const char* kFunction = "fuselage_compile_cuda";

using Compile = decltype(&fuselage_compile_cuda);

std::filesystem::path module_path() {
  if (const char* path = std::getenv(kModuleVariable); path != nullptr && *path != '\0')
    return path;
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path() / kModuleFile;
}

/// Loads the module, which stays.
Compile load_module() {
  const std::filesystem::path path = module_path();
  if (std::error_code unreadable; !std::filesystem::exists(path, unreadable))
    throw Error(
        "there is no CUDA back-end at {}; build Fuselage where there is a CUDA toolkit, say with "
        "{} where the file is, or use device cpu",
        path.string(), kModuleVariable);
  void* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const function = module != nullptr ? ::dlsym(module, kFunction) : nullptr;
  if (function == nullptr)
    throw Error(
        "the CUDA back-end does not load: {}; it needs CUDA's libraries of version 13 where the "
        "loader finds them (LD_LIBRARY_PATH), and is of the same build as this program; or use "
        "device cpu",
        ::dlerror());
  return reinterpret_cast<Compile>(function);
}

void expect_kernels(const Programs& programs) {
  std::vector<std::string> lines;
  for (const Graph* program : {&programs.source, &programs.step})
    for (std::string& line : nodes_without_kernel(*program, cuda::cuda_kernels()))
      lines.push_back(std::move(line));
  if (!lines.empty())
    throw Error(
        "the cuda back-end has no kernel for {} node{}: {}; use device cpu or another "
        "precision",
        lines.size(), lines.size() == 1 ? "" : "s", fmt::join(lines, "; "));
}

}  // namespace

std::unique_ptr<Executable> compile_cuda(const Programs& programs, TensorMap weights,
                                         const CudaOptions& options) {
  static const Compile compile = load_module();
  expect_kernels(programs);
  return std::unique_ptr<Executable>(compile(programs, std::move(weights), options));
}

}  // namespace fuselage
