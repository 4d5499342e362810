#pragma once

#include <cstddef>
#include <string>

#include "tools/options/options.h"

namespace fuselage {

/// Columns of the terminal that standard output is, as COLUMNS or the terminal says, from 40 to
/// 100; 80 where there is none.
std::size_t help_width();

/// The help of the program: its commands, wrapped at `width` columns.
std::string program_help(std::size_t width);

/// The help of a command: description, usage, and its options by groups, wrapped at `width`
/// columns.
std::string help_text(const Options& options, std::size_t width);

}  // namespace fuselage
