#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/suggest.h"
#include "tools/commands.h"
#include "tools/files.h"

namespace fuselage {
namespace {

struct Command {
  std::string_view name;
  int (*run)(const std::vector<std::string>&);
  std::string_view summary;
};
constexpr std::array<Command, 6> kCommands = {{
    {"translate", run_translate, "Translate lines of text"},
    {"score", run_score, "Tell how likely given translations are"},
    {"dump", run_dump, "Show the graph of a model, and what the optimizer makes of it"},
    {"run", run_graph, "Run optimizer passes on a graph that is a text"},
    {"convert", run_convert, "Write a model as a model directory"},
    {"quantize", run_quantize, "Write a model with its matrices in fewer bits"},
}};

void print_help() {
  fmt::print("Fuselage {}: sequence-to-sequence inference\n\nUsage: fuselage COMMAND [OPTIONS]\n\n",
             FUSELAGE_VERSION);
  for (const Command& command : kCommands)
    fmt::print("  {:<10} {}\n", command.name, command.summary);
  fmt::print("\nSee fuselage COMMAND --help for the options of a command.\n");
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.empty()) throw Error("no command is given; see fuselage --help");
  const std::string& name = arguments[0];
  if (name == "-h" || name == "--help" || name == "help") {
    print_help();
    return 0;
  }
  if (name == "--version") {
    fmt::print("fuselage {}\n", FUSELAGE_VERSION);
    return 0;
  }
  for (const Command& command : kCommands)
    if (command.name == name)
      return command.run(std::vector<std::string>(arguments.begin() + 1, arguments.end()));
  std::vector<std::string_view> names;
  for (const Command& command : kCommands) names.push_back(command.name);
  throw Error("there is no command {}{}; see fuselage --help", in_quotes(name),
              did_you_mean(name, names));
}

int report(std::string_view prefix, std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  write_diagnostic(fmt::format("fuselage: {}{}\n", prefix, message));
  return 1;
}

int report_no_memory() {
  return report("", "there is not enough memory; smaller batches (--mini-batch) need less");
}

int run_reporting(const std::vector<std::string>& arguments) {
  try {
    const int status = run(arguments);
    if (std::fflush(stdout) != 0) throw Error("cannot write standard output");
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
}  // namespace fuselage

int main(int argc, char** argv) {
  // A reader that goes away and a limit on the size of files are then errors of write(), with a
  // message, instead of a silent death.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  std::ios::sync_with_stdio(false);
  fuselage::reserve_standard_streams();
  return fuselage::run_reporting(std::vector<std::string>(argv + 1, argv + argc));
}
