#include "fuselage/base/extension.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <mutex>
#include <set>

#include "base/machine/library_path.h"
#include "base/registrant.h"
#include "fuselage/base/error.h"
#include "fuselage/base/stack.h"

namespace fuselage {
namespace {

constexpr const char* kEntry = "fuselage_extension";

/// A path with a slash: dlopen looks for other names in the system's folders.
std::string as_path(const std::string& path) {
  return path.find('/') == std::string::npos ? "./" + path : path;
}

}  // namespace

void load_extension(const std::string& path) {
  expect_stack();
  static std::mutex mutex;
  static std::set<void*> loaded;
  const std::lock_guard lock(mutex);
  share_symbols();
  void* const library = ::dlopen(as_path(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* const reason = ::dlerror();
    throw Error(
        fmt::format("the extension {} cannot be loaded: {}; it must be a library that is "
                    "built for this version of Fuselage",
                    path, reason ? reason : "no reason is known"));
  }
  if (loaded.contains(library)) return;
  // The symbol is looked for in the library's dependencies too, but not in the program.
  void* const entry = ::dlsym(library, kEntry);
  if (!entry)
    throw Error(fmt::format(
        "{} is no extension: it exports no function {}; define extern \"C\" FUSELAGE_API void {}()",
        path, kEntry, kEntry));
  try {
    const RegistrantScope scope(path);
    reinterpret_cast<void (*)()>(entry)();
  } catch (const std::exception& error) {
    throw Error(
        fmt::format("the extension {} cannot register: {}", path, message_of_fault(error.what())));
  } catch (...) {
    throw Error(
        fmt::format("the extension {} cannot register: it throws something that is no "
                    "std::exception",
                    path));
  }
  loaded.insert(library);
}

}  // namespace fuselage
