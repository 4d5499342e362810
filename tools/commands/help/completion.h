#pragma once

#include <string>

namespace fuselage {

/// Shell scripts that complete commands, options, and the words and paths that are their values.
std::string bash_completion();
std::string zsh_completion();

}  // namespace fuselage
