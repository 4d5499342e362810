#pragma once

#include <string>

namespace fuselage {

/// The manual page of a command, or with "" that of the program, in roff for section 1. Throws
/// Error for a name that is no command.
std::string manual_page(const std::string& command);

}  // namespace fuselage
