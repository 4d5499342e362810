#include "tools/commands/help/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/commands/commands.h"
#include "tools/options/files.h"
#include "tools/options/option_table.h"
#include "tools/options/validators.h"

namespace fuselage {
namespace {

std::vector<OptionEntry> table_of(const CommandEntry& entry) {
  return option_table(entry.make()->options().app());
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const CommandEntry& entry : command_table()) names.emplace_back(entry.name);
  return names;
}

/// The words that a command's positional argument accepts.
std::vector<std::string> argument_choices(const std::vector<OptionEntry>& table) {
  for (const OptionEntry& entry : table)
    if (!entry.argument.empty() && !entry.choices.empty()) return entry.choices;
  return {};
}

/// The case of a shell function that completes the values of one option. Without completions, bash
/// completes paths unless compopt forbids it.
std::string bash_value_case(std::string_view command, const OptionEntry& entry) {
  if (entry.value.empty() || entry.names.empty()) return "";
  std::vector<std::string> patterns;
  for (const std::string& name : entry.names)
    patterns.push_back(fmt::format("{}:{}", command, name));
  std::string action;
  if (!entry.takes_path() && !entry.value_optional) action += "compopt +o default +o bashdefault; ";
  if (!entry.choices.empty())
    action += fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$current\")); ",
                          fmt::join(entry.choices, " "));
  return fmt::format("    {}) {}return ;;\n", fmt::join(patterns, " | "), action);
}

/// `text` for zsh's single quotes, with the special characters of its _arguments escaped.
std::string zsh_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return result;
}

std::string zsh_action(const OptionEntry& entry) {
  if (!entry.choices.empty()) return fmt::format("({})", fmt::join(entry.choices, " "));
  if (entry.value.starts_with("DIR")) return "_files -/";
  return entry.takes_path() ? "_files" : " ";
}

/// The specifications of an option, one for each of its mutually exclusive names.
std::string zsh_specifications(const OptionEntry& entry) {
  if (entry.names.empty())
    return fmt::format("      '{}:{}:{}'\n", entry.several_values ? "*" : "",
                       zsh_text(entry.argument), zsh_action(entry));
  std::string text;
  for (const std::string& name : entry.names) {
    const bool is_long = name.starts_with("--");
    const std::string value = entry.value.empty()
                                  ? ""
                                  : fmt::format("{}:{}:{}", entry.value_optional ? ":" : "",
                                                zsh_text(entry.value), zsh_action(entry));
    text += fmt::format("      '({}){}{}[{}]{}'\n", fmt::join(entry.names, " "), name,
                        entry.value.empty() ? ""
                        : is_long           ? "="
                                            : "+",
                        zsh_text(entry.description), value);
  }
  return text;
}

class CompletionCommand : public Command {
 public:
  CompletionCommand()
      : Command("completion", "Print a script that completes commands and options in a shell.",
                {{"source <(fuselage completion bash)", "Completion in this bash."},
                 {"fuselage completion zsh > ~/.zfunc/_fuselage",
                  "For zsh, when ~/.zfunc is in its fpath."}}) {
    options().begin_group("Arguments");
    options()
        .app()
        .add_option("SHELL", shell_, "The shell")
        ->required()
        ->check(one_of({"bash", "zsh"}));
  }

  int run() override {
    OutputFile output("stdout");
    output.write(shell_ == "zsh" ? zsh_completion() : bash_completion());
    output.close();
    return 0;
  }

 private:
  std::string shell_;
};

}  // namespace

std::string bash_completion() {
  std::string values, options;
  for (const CommandEntry& command : command_table()) {
    const std::vector<OptionEntry> table = table_of(command);
    std::vector<std::string> names;
    for (const OptionEntry& entry : table) {
      values += bash_value_case(command.name, entry);
      names.insert(names.end(), entry.names.begin(), entry.names.end());
    }
    options += fmt::format("    {}:-*) words='{}' ;;\n", command.name, fmt::join(names, " "));
    if (const auto words = argument_choices(table); !words.empty())
      options += fmt::format("    {}:*) words='{}' ;;\n", command.name, fmt::join(words, " "));
  }
  return fmt::format(
      R"(# bash completion for fuselage; "fuselage completion bash" prints it.
_fuselage() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} words=
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W '{} help --help --version' -- "$current"))
    return
  fi
  # --option=value is three words.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  case ${{COMP_WORDS[1]}}:$previous in
{}  esac
  case ${{COMP_WORDS[1]}}:$current in
    help:*) words='{}' ;;
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o bashdefault -o default -F _fuselage fuselage
)",
      fmt::join(command_names(), " "), values, fmt::join(command_names(), " "), options);
}

std::string zsh_completion() {
  std::string commands, cases;
  for (const CommandEntry& command : command_table()) {
    commands += fmt::format("    '{}:{}'\n", command.name, zsh_text(command.summary));
    cases += fmt::format("    {}) _arguments -S \\\n", command.name);
    std::string specifications;
    for (const OptionEntry& entry : table_of(command)) specifications += zsh_specifications(entry);
    // All lines but the last continue.
    for (const char c : specifications)
      cases += c == '\n' ? std::string(" \\\n") : std::string(1, c);
    cases += "      && return ;;\n";
  }
  return fmt::format(
      R"(#compdef fuselage
# zsh completion for fuselage; "fuselage completion zsh" prints it.
_fuselage() {{
  local -a commands=(
{}    'help:Print the help of a command'
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
    help) _describe command commands ;;
{}  esac
}}
# Loaded by the completion system as a function, or sourced.
if [[ $funcstack[1] == _fuselage ]]; then
  _fuselage "$@"
else
  compdef _fuselage fuselage
fi
)",
      commands, cases);
}

std::unique_ptr<Command> make_completion_command() { return std::make_unique<CompletionCommand>(); }

}  // namespace fuselage
