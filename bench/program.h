#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace fuselage {

/// Runs a benchmark on the arguments of its command line; what it throws is said under its name.
/// Returns the exit status.
inline int run_program(const char* name, int argc, char** argv,
                       void (*run)(const std::vector<std::string>& arguments)) {
  try {
    run({argv + 1, argv + argc});
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return 1;
  }
}

}  // namespace fuselage
