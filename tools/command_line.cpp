#include "fuselage/tools/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/base/error.h"
#include "fuselage/base/version.h"
#include "tools/options/command.h"
#include "tools/options/files.h"
#include "tools/options/help_text.h"
#include "tools/stack_limit.h"

namespace fuselage {
namespace {

int run_command(std::string_view name, const std::vector<std::string>& arguments) {
  const std::unique_ptr<Command> command = find_command(name).make();
  return command->options().parse(arguments) ? command->run() : 0;
}

int run(std::vector<std::string> arguments) {
  check_stack_limit();
  if (arguments.empty()) throw Error("no command is given; see fuselage --help");
  const std::string name = arguments[0];
  arguments.erase(arguments.begin());
  if (name == "help" && !arguments.empty()) return run_command(arguments[0], {"--help"});
  if (name == "-h" || name == "--help" || name == "help") {
    fmt::print("{}", program_help(help_width()));
    return 0;
  }
  if (name == "--version") {
    fmt::print("fuselage {}\n", version());
    return 0;
  }
  return run_command(name, arguments);
}

int report(std::string_view prefix, std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  write_diagnostic(fmt::format("fuselage: {}{}\n", prefix, message));
  return 1;
}

int report_no_memory() {
  return report("",
                "there is not enough memory; fewer --cpu-threads, a smaller --beam-size and "
                "smaller batches need less");
}

int run_reporting(const std::vector<std::string>& arguments) {
  try {
    const int status = run(arguments);
    if (std::fflush(stdout) != 0) fail_to_write("standard output");
    return status;
  } catch (const Error& error) {
    return report("", error.what());
  } catch (const InternalError& error) {
    return report("", error.what());
  } catch (const std::bad_alloc&) {
    return report_no_memory();
  } catch (const std::length_error&) {
    return report_no_memory();
  } catch (const std::exception& error) {
    return report("internal error: ", error.what());
  }
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  // Without these signals, a limit on file sizes and a closed pipe are errors of write(). A closed
  // pipe of results ends the process in fail_to_write(); one of messages is ignored.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  std::ios::sync_with_stdio(false);
  reserve_standard_streams();
  return run_reporting(std::vector<std::string>(argv + 1, argv + argc));
}

}  // namespace fuselage
