#include "tools/commands/help/manual.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuselage/base/version.h"
#include "tools/commands/commands.h"
#include "tools/options/files.h"
#include "tools/options/option_table.h"
#include "tools/options/validators.h"

namespace fuselage {
namespace {

struct Topic {
  std::string_view name;
  std::string_view text;
};

constexpr std::array<Topic, 6> kEnvironment = {{
    {"FUSELAGE_MODELS",
     "Folder of the bundled models, such as en-de, in the place of the installed one."},
    {"FUSELAGE_ISA",
     "Level of SIMD instructions, such as avx2, in the place of the processor's best."},
    {"FUSELAGE_CUDA_MODULE",
     "File of the CUDA back-end, in the place of the one beside the "
     "program."},
    {"FUSELAGE_CUDNN", "File of cuDNN, in the place of the loader's; none: do without."},
    {"COLUMNS", "Width of help."},
    {"NO_COLOR", "When it is set, progress is shown without colours."},
}};

/// Text escaped for roff.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else if (c == '\'' || c == '"' || c == '`')
      result += c == '\'' ? "\\(aq" : c == '"' ? "\\(dq" : "\\(ga";
    else
      result += c;
  }
  // roff reads a line that begins with a full stop as a request.
  return result.starts_with('.') ? "\\&" + result : result;
}

std::string heading(std::string_view name, std::string_view summary) {
  std::string title(name);
  for (char& c : title) c = c == ' ' ? '-' : c;
  return fmt::format(".TH {} 1 \"\" \"Fuselage {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n",
                     title, version(), escaped(title), escaped(summary));
}

std::string topic(std::string_view name, std::string_view text) {
  return fmt::format(".TP\n.B {}\n{}\n", escaped(name), escaped(text));
}

std::string option_sections(const std::vector<OptionEntry>& table) {
  std::string text = ".SH OPTIONS\n";
  for (const std::string& group : groups_of(table)) {
    text += fmt::format(".SS {}\n", escaped(group));
    for (const OptionEntry& entry : table)
      if (entry.group == group) text += topic(usage_of(entry), full_description(entry) + ".");
  }
  return text;
}

std::string common_sections() {
  std::string text =
      ".SH EXIT STATUS\n.TP\n.B 0\nThe command did what it was asked for.\n.TP\n.B 1\nAn error, "
      "which one line on standard error tells; of check and run with \\-\\-compare also a "
      "difference, which standard output tells.\n.SH ENVIRONMENT\n";
  for (const Topic& variable : kEnvironment) text += topic(variable.name, variable.text);
  return text;
}

std::string see_also(std::string_view but) {
  std::string text;
  const auto add = [&](std::string_view page) {
    if (page != but) text += fmt::format("{}.BR {} (1)", text.empty() ? "" : ",\n", escaped(page));
  };
  add("fuselage");
  for (const CommandEntry& command : command_table()) add(fmt::format("fuselage-{}", command.name));
  return ".SH SEE ALSO\n" + text + '\n';
}

std::string program_page() {
  std::string text = heading("fuselage", "sequence-to-sequence inference");
  text += ".SH SYNOPSIS\n.B fuselage\n.I COMMAND\n[OPTIONS]\n.SH DESCRIPTION\n" +
          escaped("Translates text with neural models, and shows, converts and quantizes models.") +
          "\n.SH COMMANDS\n";
  for (const CommandEntry& command : command_table())
    text += topic(command.name, fmt::format("{}.", command.summary));
  return text + common_sections() + see_also("fuselage");
}

std::string command_page(const CommandEntry& entry) {
  const std::unique_ptr<Command> command = entry.make();
  const Options& options = command->options();
  const std::vector<OptionEntry> table = option_table(options.app());
  const std::string name = options.app().get_name();
  std::string text = heading(name, entry.summary);
  text += fmt::format(".SH SYNOPSIS\n.B {}\n", escaped(synopsis_of(name, table)));
  text += fmt::format(".SH DESCRIPTION\n{}\n", escaped(options.app().get_description()));
  text += option_sections(table);
  if (!options.examples().empty()) text += ".SH EXAMPLES\n";
  for (const Example& example : options.examples()) text += topic(example.command, example.purpose);
  return text + common_sections() + see_also("fuselage-" + std::string(entry.name));
}

class ManualCommand : public Command {
 public:
  ManualCommand()
      : Command("manual", "Print the manual page of the program or of a command, for man.",
                {{"fuselage manual translate | man -l -", "Shows a manual page."}}) {
    options().begin_group("Arguments");
    std::vector<std::string> names;
    for (const CommandEntry& entry : command_table()) names.emplace_back(entry.name);
    options()
        .app()
        .add_option("COMMAND", name_, "A command; without it the program itself")
        ->check(one_of(std::move(names)));
  }

  int run() override {
    OutputFile output("stdout");
    output.write(manual_page(name_));
    output.close();
    return 0;
  }

 private:
  std::string name_;
};

}  // namespace

std::string manual_page(const std::string& command) {
  return command.empty() ? program_page() : command_page(find_command(command));
}

std::unique_ptr<Command> make_manual_command() { return std::make_unique<ManualCommand>(); }

}  // namespace fuselage
