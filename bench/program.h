#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace fuselage {

/// The command line of a benchmark.
struct Program {
  const char* name;
  const char* arguments;      ///< "MODEL TEXT [beam]"
  std::size_t min_arguments;  ///< number of required arguments
  const char* purpose;        ///< a sentence about the measurement
};

/// Runs a benchmark with the arguments of its command line. Prints the usage for --help, and as an
/// error when arguments are missing. Prints exceptions after the program's name. Returns the exit
/// status.
inline int run_program(const Program& program, int argc, char** argv,
                       void (*run)(const std::vector<std::string>& arguments)) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::string usage = fmt::format("usage: {} {}\n", program.name, program.arguments);
  for (const std::string& argument : arguments)
    if (argument == "-h" || argument == "--help") {
      fmt::print("{}\n{}\n", usage, program.purpose);
      return 0;
    }
  if (arguments.size() < program.min_arguments) {
    fmt::print(stderr, "{}", usage);
    return 2;
  }
  try {
    run(arguments);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", program.name, error.what());
    return 1;
  }
}

}  // namespace fuselage
