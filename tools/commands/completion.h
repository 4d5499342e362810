#pragma once

#include <string>

namespace fuselage {

/// Scripts that complete commands, options, and the words and paths that options take.
std::string bash_completion();
std::string zsh_completion();

}  // namespace fuselage
