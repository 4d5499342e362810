#include "backends/cuda/device/runtime/runtime_compiler.h"

#include <fmt/format.h>
#include <nvrtc.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "backends/cuda/device/runtime/launch.h"
#include "base/files/content_hash.h"
#include "base/files/file.h"
#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

void expect_compiler(nvrtcResult status, std::string_view what) {
  if (status != NVRTC_SUCCESS)
    throw Error(fmt::format("NVRTC: {} failed: {}", what, nvrtcGetErrorString(status)));
}

class Program {
 public:
  explicit Program(const std::string& source) {
    expect_compiler(
        nvrtcCreateProgram(&program_, source.c_str(), "expression.cu", 0, nullptr, nullptr),
        "creation of a program");
  }
  ~Program() { nvrtcDestroyProgram(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void compile(const std::string& architecture) {
    const std::string target = "--gpu-architecture=" + architecture;
    const std::array options{target.c_str(), "--std=c++17", "--fmad=false"};
    const nvrtcResult status =
        nvrtcCompileProgram(program_, static_cast<int>(options.size()), options.data());
    if (status != NVRTC_SUCCESS)
      throw Error(fmt::format("NVRTC cannot compile an elementwise expression for {} ({}): {}",
                              architecture, nvrtcGetErrorString(status), log()));
  }

  std::string cubin() const {
    std::size_t size = 0;
    expect_compiler(nvrtcGetCUBINSize(program_, &size), "query of the machine code's size");
    std::string bytes(size, '\0');
    expect_compiler(nvrtcGetCUBIN(program_, bytes.data()), "copy of the machine code");
    return bytes;
  }

 private:
  std::string log() const {
    std::size_t size = 0;
    nvrtcGetProgramLogSize(program_, &size);
    std::string text(size, '\0');
    if (size > 0) nvrtcGetProgramLog(program_, text.data());
    return text.substr(0, text.find('\0'));
  }

  nvrtcProgram program_ = nullptr;
};

std::string hash_of(std::string_view bytes) {
  ContentHash hash;
  hash.add(bytes);
  return hash.text();
}

std::string file_name(const std::string& source, const std::string& architecture) {
  int major = 0, minor = 0;
  expect_compiler(nvrtcVersion(&major, &minor), "query of the version");
  ContentHash hash;
  hash.add(source);
  hash.add(architecture);
  hash.add(fmt::format("{}.{}", major, minor));
  return hash.text() + ".cubin";
}

/// Reads a file of the cache: the hash of the cubin, then the cubin. nullopt for a missing file and
/// for a wrong hash.
std::optional<std::string> read_cubin(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  std::string bytes = read_file(path);
  const std::size_t header = hash_of("").size();
  if (bytes.size() <= header) return std::nullopt;
  std::string cubin = bytes.substr(header);
  if (bytes.compare(0, header, hash_of(cubin)) != 0) return std::nullopt;
  return cubin;
}

}  // namespace

std::string device_architecture() {
  int device = 0, major = 0, minor = 0;
  const bool known =
      cudaGetDevice(&device) == cudaSuccess &&
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) == cudaSuccess;
  if (known) return fmt::format("sm_{}{}", major, minor);
  static_cast<void>(cudaGetLastError());  // clears the error for the next call
  return "sm_90";
}

std::string compile_cubin(const std::string& source, const std::string& architecture) {
  Program program(source);
  program.compile(architecture);
  return program.cubin();
}

std::string cubin_directory() {
  constexpr std::string_view kFolder = "/fuselage/cuda";
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value ? value : "";
  };
  if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty())
    return cache + std::string(kFolder);
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.cache" + std::string(kFolder);
}

std::string cached_cubin(const std::string& source, const std::string& architecture,
                         const std::string& directory) {
  if (directory.empty()) return compile_cubin(source, architecture);
  const std::string path = directory + "/" + file_name(source, architecture);
  try {
    if (std::optional<std::string> cubin = read_cubin(path)) return *std::move(cubin);
  } catch (const Error&) {
    // An unreadable file is compiled again.
  }
  std::string cubin = compile_cubin(source, architecture);
  try {
    std::error_code ignored;
    std::filesystem::create_directories(directory, ignored);
    const std::string hash = hash_of(cubin);
    write_file_atomically(path, std::array<std::string_view, 2>{hash, cubin});
  } catch (const Error&) {
    // Without the file the next process compiles again.
  }
  return cubin;
}

KernelLibrary::KernelLibrary(const std::string& cubin) {
  expect_success(
      cudaLibraryLoadData(&library_, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      "loading of a kernel that was compiled at run time");
}

KernelLibrary::~KernelLibrary() { cudaLibraryUnload(library_); }

const void* KernelLibrary::kernel(const char* name) const {
  cudaKernel_t kernel = nullptr;
  expect_success(cudaLibraryGetKernel(&kernel, library_, name),
                 "look-up of a kernel that was compiled at run time");
  return reinterpret_cast<const void*>(kernel);
}

std::shared_ptr<const KernelLibrary> load_kernels(const std::string& source) {
  static std::mutex mutex;
  // Never destroyed: the driver may shut down earlier.
  static auto& libraries =
      *new std::map<std::pair<std::string, std::string>, std::shared_ptr<const KernelLibrary>>();
  const std::scoped_lock lock(mutex);
  const std::string architecture = device_architecture();
  std::shared_ptr<const KernelLibrary>& library = libraries[{architecture, source}];
  if (!library)
    library =
        std::make_shared<KernelLibrary>(cached_cubin(source, architecture, cubin_directory()));
  return library;
}

}  // namespace fuselage::cuda
