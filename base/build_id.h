#pragma once

#include <string>

namespace fuselage {

/// The build ID of the program or library that holds the code at `address`, in hexadecimal digits.
/// The linker makes it from all code and data, so that another build has another. Empty where it
/// was linked without one.
std::string build_id_of(const void* address);

}  // namespace fuselage
