#include "backends/cuda/cudnn.h"

#include <dlfcn.h>

#include <cstdlib>

namespace fuselage::cuda {
namespace {

#ifdef FUSELAGE_CUDNN_FOUND
/// Loads the library, which stays.
bool loads() {
  const char* const named = std::getenv("FUSELAGE_CUDNN");
  const bool is_named = named != nullptr && *named != '\0';
  return ::dlopen(is_named ? named : "libcudnn.so.9", RTLD_NOW | RTLD_LOCAL) != nullptr;
}
#else
bool loads() { return false; }
#endif

}  // namespace

bool has_recurrent_layers() {
  static const bool has = loads();
  return has;
}

}  // namespace fuselage::cuda
