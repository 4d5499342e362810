#pragma once

#include <string>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// Loads a library that registers ops, passes, kernels or architectures in its function
/// `extern "C" FUSELAGE_API void fuselage_extension()`, which is called once. Loading a file again
/// does nothing. The library stays loaded. Its undefined symbols are those of the program and of
/// the libraries that it links. Thread-safe. Throws Error with the file for a library that cannot
/// be loaded or lacks the function, and with the message of a registration that fails; what was
/// registered before stays.
void load_extension(const std::string& path);

}  // namespace fuselage
