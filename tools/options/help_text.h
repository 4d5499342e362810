#pragma once

#include <cstddef>
#include <string>

#include "tools/options/options.h"

namespace fuselage {

/// Columns for help, from 40 to 100: COLUMNS, or the width of the terminal on standard output; 80
/// without both.
std::size_t help_width();

/// The help of the program: its commands, wrapped at `width` columns.
std::string program_help(std::size_t width);

/// The help of a command: description, usage, and options by group, wrapped at `width` columns.
std::string help_text(const Options& options, std::size_t width);

}  // namespace fuselage
