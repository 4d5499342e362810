// Sets the options of commands from a configuration file.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuselage/base/error.h"
#include "fuzz/check_message.h"
#include "tools/options/command.h"

namespace {

using namespace fuselage;

std::vector<std::unique_ptr<Command>> make_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  for (const char* name : {"translate", "score", "convert", "dump", "quantize"})
    commands.push_back(find_command(name).make());
  return commands;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Static, since making options takes longer than setting them.
  static const auto commands = make_commands();
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const auto& command : commands) {
    for (const bool ignore_unknown : {false, true}) {
      command->options().app().clear();
      try {
        command->options().apply_config_text(text, "fuzz/decoder.yml", ignore_unknown);
      } catch (const Error& error) {
        check_message(error);
      }
    }
  }
  return 0;
}
