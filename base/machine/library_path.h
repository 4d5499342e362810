#pragma once

#include <filesystem>

namespace fuselage {

/// The file that this code was loaded from: libfuselage.so, or a program that links the code
/// statically. Its path has no symbolic links, such as Debian's /lib. Empty if the system does not
/// say.
std::filesystem::path library_path();

/// Makes the symbols of this library visible to libraries that are loaded from now on and do not
/// link it. They are not if, for example, Python loaded it.
void share_symbols();

}  // namespace fuselage
