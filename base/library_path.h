#pragma once

#include <filesystem>

namespace fuselage {

/// The file that this code was loaded from: libfuselage.so, or a program that links the code
/// statically. Empty if the system does not say.
std::filesystem::path library_path();

}  // namespace fuselage
