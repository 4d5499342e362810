#include "backends/cuda/cudnn.h"

#include <dlfcn.h>

#include <cstdlib>

namespace fuselage::cuda {
namespace {

constexpr const char* kLibraryFile = "libcudnn.so.9";
constexpr const char* kLibraryVariable = "FUSELAGE_CUDNN";

#ifdef FUSELAGE_CUDNN_FOUND
constexpr bool kBuiltIn = true;
#else
constexpr bool kBuiltIn = false;
#endif

void* load_library() {
  const char* named = std::getenv(kLibraryVariable);
  const bool is_named = named != nullptr && *named != '\0';
  return ::dlopen(is_named ? named : kLibraryFile, RTLD_LAZY | RTLD_LOCAL);
}

}  // namespace

void* cudnn_library() {
  static void* const library = kBuiltIn ? load_library() : nullptr;
  return library;
}

bool has_recurrent_layers() { return cudnn_library() != nullptr; }

}  // namespace fuselage::cuda
