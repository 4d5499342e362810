#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/options/options.h"

namespace fuselage {

/// A sub-command: its options and its work.
class Command {
 public:
  virtual ~Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  Options& options() { return options_; }

  /// Runs the command with the parsed options and returns the exit status. Throws Error for errors
  /// of the user.
  virtual int run() = 0;

 protected:
  Command(const std::string& name, const std::string& description,
          std::vector<Example> examples = {})
      : options_(name, description, std::move(examples)) {}

 private:
  Options options_;
};

/// A sub-command by name.
struct CommandEntry {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Command> (*make)();
};

/// All sub-commands, in the order of the help text.
std::span<const CommandEntry> command_table();

/// The sub-command `name`. Throws Error with the nearest name if there is none.
const CommandEntry& find_command(std::string_view name);

}  // namespace fuselage
