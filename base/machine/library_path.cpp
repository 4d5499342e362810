#include "base/machine/library_path.h"

#include <dlfcn.h>
#include <link.h>

#include <system_error>

namespace fuselage {

std::filesystem::path library_path() {
  Dl_info info;
  void* object = nullptr;
  // A data pointer for a function pointer, as POSIX allows.
  if (::dladdr1(reinterpret_cast<void*>(&library_path), &info, &object, RTLD_DL_LINKMAP) == 0)
    return {};
  std::error_code unknown;
  // The loader has no name for the program itself.
  const std::filesystem::path name = static_cast<const link_map*>(object)->l_name;
  if (name.empty()) return std::filesystem::read_symlink("/proc/self/exe", unknown);
  return std::filesystem::weakly_canonical(name, unknown);
}

void share_symbols() {
  if (const std::filesystem::path library = library_path(); !library.empty())
    ::dlopen(library.c_str(), RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

}  // namespace fuselage
