// NVRTC by the host's compiler: a program becomes a shared object, and its bytes are the cubin.
// Kernels have C names and one parameter, passed by value.
#include <nvrtc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A temporary directory. The destructor removes it.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (fs::temp_directory_path() / "emulated_nvrtc_XXXXXX").string();
    if (!mkdtemp(name.data())) std::abort();
    path_ = name;
  }
  ~TemporaryDirectory() { fs::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

// For each kernel NAME(TYPE …): a function with the parameter by address, and the parameter's size.
std::string with_callers(const std::string& source) {
  static const std::regex kernel(
      R"(extern\s+"C"\s+__global__\s+void\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?)"
      R"((\w+)\s*\(\s*(?:const\s+)?(?:__grid_constant__\s+)?(?:const\s+)?(\w+)\s+\w+\s*\))");
  std::string text = "#include \"emulated_cuda/generated.h\"\n#line 1 \"kernel.cu\"\n" + source;
  for (std::sregex_iterator hit(source.begin(), source.end(), kernel), end; hit != end; ++hit) {
    const std::string name = (*hit)[1], type = (*hit)[2];
    text += "\nextern \"C\" void " + name + "_call(const void* p) { " + name +
            "(*static_cast<const " + type + "*>(p)); }\nextern \"C\" const unsigned long " + name +
            "_bytes;\nconst unsigned long " + name + "_bytes = sizeof(" + type + ");\n";
  }
  return text;
}

}  // namespace

struct _nvrtcProgram {  // NOLINT(readability-identifier-naming): NVIDIA's name
  std::string source, log, binary;
};

// NVRTC's functions.

nvrtcResult nvrtcVersion(int* major, int* minor) {
  *major = 0;  // not a real version, so that caches do not mix with real cubins
  *minor = EMULATED_NVRTC_VERSION;
  return NVRTC_SUCCESS;
}

const char* nvrtcGetErrorString(nvrtcResult result) {
  switch (result) {
    case NVRTC_SUCCESS:
      return "NVRTC_SUCCESS";
    case NVRTC_ERROR_COMPILATION:
      return "NVRTC_ERROR_COMPILATION";
    case NVRTC_ERROR_INVALID_OPTION:
      return "NVRTC_ERROR_INVALID_OPTION";
    default:
      return "an error of the emulated NVRTC";
  }
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char*, int headers,
                               const char* const*, const char* const*) {
  if (headers != 0) return NVRTC_ERROR_INVALID_INPUT;
  *program = new _nvrtcProgram{source, "", ""};
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  delete *program;
  *program = nullptr;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options) {
  for (int i = 0; i < count; ++i)
    if (options[i][0] != '-') return NVRTC_ERROR_INVALID_OPTION;
  const TemporaryDirectory directory;
  std::ofstream(directory / "kernel.cpp") << with_callers(program->source);
  const std::string command =
      std::string(EMULATED_NVRTC_COMMAND) + " -o " + (directory / "kernel.so").string() + " " +
      (directory / "kernel.cpp").string() + " 2> " + (directory / "log").string();
  const int status = std::system(command.c_str());
  program->log = read(directory / "log");
  if (status != 0) return NVRTC_ERROR_COMPILATION;
  program->binary = read(directory / "kernel.so");
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* bytes) {
  *bytes = program->log.size() + 1;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  std::copy_n(program->log.c_str(), program->log.size() + 1, log);
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* bytes) {
  *bytes = program->binary.size();
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* binary) {
  std::copy_n(program->binary.data(), program->binary.size(), binary);
  return NVRTC_SUCCESS;
}
