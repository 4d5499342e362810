#pragma once

#include <string>

namespace fuselage {

/// The manual page of a command, or with "" the page of the program, in roff for section 1. Throws
/// Error for an unknown command.
std::string manual_page(const std::string& command);

}  // namespace fuselage
