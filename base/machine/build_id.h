#pragma once

#include <string>

namespace fuselage {

/// The build ID of the program or library that holds the code at `address`, in hexadecimal digits.
/// The linker computes it from all code and data, so different builds have different IDs. Empty if
/// the program or library was linked without one.
std::string build_id_of(const void* address);

/// The version of the system's C library, whose functions of numbers may differ by it. Empty if it
/// has none.
std::string libc_version();

}  // namespace fuselage
