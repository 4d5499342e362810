#pragma once

#include <string>

namespace fuselage {

/// The build ID of the program or library that holds the code at `address`, in hexadecimal digits.
/// The linker computes it from all code and data, so different builds have different IDs. Empty if
/// the program or library was linked without one.
std::string build_id_of(const void* address);

}  // namespace fuselage
