#include "tools/commands/commands.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

constexpr std::array<CommandEntry, 14> kCommands = {{
    {"translate", "Translate lines of text", make_translate_command},
    {"serve", "Serve translations over HTTP", make_serve_command},
    {"generate", "Continue texts with a language model", make_generate_command},
    {"score", "Tell how likely given translations or texts are", make_score_command},
    {"dump", "Show a graph, and what the optimizer makes of it", make_dump_command},
    {"run", "Evaluate a graph on given inputs", make_run_command},
    {"convert", "Write a model as a model directory", make_convert_command},
    {"quantize", "Write a model with its matrices in fewer bits", make_quantize_command},
    {"check", "Tell whether a model computes what it did when it was converted",
     make_check_command},
    {"lexicon", "Make the lexical table of a shortlist from parallel text", make_lexicon_command},
    {"info", "Tell what a model is: sizes, precisions, vocabularies, defaults", make_info_command},
    {"ops", "Describe the ops that graphs consist of, and their kernels", make_ops_command},
    {"completion", "Print a script that completes commands and options in a shell",
     make_completion_command},
    {"manual", "Print the manual page of the program or of a command", make_manual_command},
}};

}  // namespace

std::span<const CommandEntry> command_table() { return kCommands; }

const CommandEntry& find_command(std::string_view name) {
  std::vector<std::string_view> names;
  for (const CommandEntry& command : kCommands) {
    if (command.name == name) return command;
    names.push_back(command.name);
  }
  throw Error(fmt::format("there is no command {}{}; see fuselage --help", in_quotes(name),
                          did_you_mean(name, names)));
}

}  // namespace fuselage
