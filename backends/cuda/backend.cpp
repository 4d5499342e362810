#include "backends/cuda/backend.h"

#include <dlfcn.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "backends/cuda/cudnn.h"
#include "backends/cuda/kernel_table.h"
#include "backends/cuda/module.h"
#include "base/machine/library_path.h"
#include "fuselage/backends/cpu/backend.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

constexpr const char* kModuleFile = "libfuselage_cuda.so";
constexpr const char* kModuleVariable = "FUSELAGE_CUDA_MODULE";
constexpr const char* kFunction = "fuselage_compile_cuda";

using Compile = decltype(&fuselage_compile_cuda);

std::filesystem::path module_path() {
  if (const char* path = std::getenv(kModuleVariable); path != nullptr && *path != '\0')
    return path;
  return library_path().parent_path() / kModuleFile;
}

/// Loads the module, which stays.
Compile load_module() {
  const std::filesystem::path path = module_path();
  if (std::error_code unreadable; !std::filesystem::exists(path, unreadable))
    throw Error(fmt::format(
        "there is no CUDA back-end at {}; build Fuselage with FUSELAGE_CUDA=ON where there is a "
        "CUDA toolkit, say with {} where the file is, or use device cpu",
        path.string(), kModuleVariable));
  share_symbols();
  void* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const function = module != nullptr ? ::dlsym(module, kFunction) : nullptr;
  if (function == nullptr)
    throw Error(fmt::format(
        "the CUDA back-end does not load: {}; it needs the libraries of the CUDA toolkit that it "
        "was built with where the loader finds them (LD_LIBRARY_PATH), and is of the same build as "
        "this library; or use device cpu",
        ::dlerror()));
  return reinterpret_cast<Compile>(function);
}

void expect_kernels(const Programs& programs) {
  std::vector<std::string> lines;
  for (const Graph* program : {&programs.source, &programs.step})
    for (std::string& line : nodes_without_kernel(*program, cuda::cuda_kernels()))
      lines.push_back(std::move(line));
  if (!lines.empty())
    throw Error(
        fmt::format("the cuda back-end has no kernel for {} node{}: {}; use device cpu or another "
                    "precision",
                    lines.size(), lines.size() == 1 ? "" : "s", fmt::join(lines, "; ")));
}

/// An H100 SXM5 by its data sheet (NVIDIA H100 Tensor Core GPU Datasheet, 2023): 67 TFLOPS in fp32
/// without tensor cores, and 3.35 TB/s of memory bandwidth. The load program runs on the CPU. The
/// time of a kernel in a captured graph is an estimate, not a measurement.
constexpr Target kH100{
    .flop_per_second = 67e12, .bytes_per_second = 3.35e12, .kernel_seconds = 1e-6};

class CudaBackend : public Backend {
 public:
  std::string_view name() const override { return "cuda"; }

  const Capabilities& capabilities() const override {
    static const Capabilities capabilities{
        .precisions = {Precision::fp32, Precision::bf16, Precision::fp16, Precision::int16,
                       Precision::int8, Precision::stored},
        .options = {BackendOption::devices, BackendOption::tf32, BackendOption::eager},
        .plans = true,
        .needs_gpu = true,
        .quantizing_kernels = false,
        .rounding_kernels = true,
        .appending_kernels = true,
        .position_kernels = true,
        .target = kH100};
    return capabilities;
  }

  /// cuDNN's, whose sums depend on the number of rows.
  bool has_recurrent_kernels(const CompileOptions& options) const override {
    return !options.cuda.deterministic && cuda::has_recurrent_layers();
  }

  KernelSet kernels(BindingTime program) const override {
    return program == BindingTime::load ? cpu_backend().kernels(program) : cuda::cuda_kernels();
  }

  /// Large ones: a GPU's products are fast from hundreds of rows on. How many pay depends on the
  /// model and the device.
  BatchBounds fastest_batches(std::size_t) const override {
    return {.sentences = 512, .words = 16384, .grows_to = 4096};
  }

  std::vector<std::string> notes(const CompileOptions& options) const override {
    if (options.precision != Precision::int8) return {};
    return {
        "int8 is slower than bf16 on a GPU, as measured on an H200 (0.62 of its words a second at "
        "64 sentences); use precision bf16, unless memory is short"};
  }

  std::unique_ptr<Executable> compile(Graph graph, TensorMap weights,
                                      const CompileOptions& options) const override {
    static const Compile compile_programs = load_module();
    const Programs programs = split_by_binding_time(graph);
    expect_kernels(programs);
    return std::unique_ptr<Executable>(
        compile_programs(programs, std::move(weights), options.cuda));
  }
};

}  // namespace

const Backend& cuda_backend() {
  static const CudaBackend backend;
  return backend;
}

}  // namespace fuselage
