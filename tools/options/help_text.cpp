#include "tools/options/help_text.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "fuselage/base/version.h"
#include "text/split.h"
#include "tools/options/command.h"
#include "tools/options/option_table.h"

namespace fuselage {
namespace {

constexpr std::size_t kMinWidth = 40, kDefaultWidth = 80, kMaxWidth = 100;

/// `text` with line breaks between words and further lines indented to `indent`, for a first line
/// that starts at `column`.
std::string wrapped(std::string_view text, std::size_t column, std::size_t indent,
                    std::size_t width) {
  std::string result;
  bool first = true;
  for_each_word(text, [&](std::string_view word) {
    if (!first && column + 1 + word.size() > width) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
      first = true;
    }
    if (!first) result += ' ';
    column += word.size() + (first ? 0 : 1);
    result += word;
    first = false;
  });
  return result + '\n';
}

/// `name` and `description` in two columns; a long name has a line of its own.
std::string two_columns(const std::string& name, std::string_view description, std::size_t indent,
                        std::size_t width) {
  std::string text = "  " + name;
  if (text.size() + 2 > indent)
    text += '\n' + std::string(indent, ' ');
  else
    text += std::string(indent - text.size(), ' ');
  return text + wrapped(description, indent, indent, width);
}

std::string entry_text(const OptionEntry& entry, std::size_t width) {
  // Narrow terminals have no room for a second column.
  return two_columns(usage_of(entry), full_description(entry), width < 64 ? 6 : 30, width);
}

}  // namespace

std::size_t help_width() {
  std::size_t width = 0;
  if (const char* columns = std::getenv("COLUMNS"); columns != nullptr)
    std::from_chars(columns, columns + std::strlen(columns), width);
  winsize size{};
  if (width == 0 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  return width == 0 ? kDefaultWidth : std::clamp(width, kMinWidth, kMaxWidth);
}

std::string program_help(std::size_t width) {
  std::string text =
      wrapped(fmt::format("Fuselage {}: sequence-to-sequence inference", version()), 0, 0, width);
  text += '\n' + wrapped("Usage: fuselage COMMAND [OPTIONS]", 0, 7, width) + '\n';
  for (const CommandEntry& command : command_table())
    text += two_columns(std::string(command.name), command.summary, 14, width);
  return text + '\n' +
         wrapped("See fuselage COMMAND --help for the options of a command.", 0, 0, width);
}

std::string help_text(const Options& options, std::size_t width) {
  const std::vector<OptionEntry> table = option_table(options.app());
  std::string text = wrapped(options.app().get_description(), 0, 0, width) + '\n';
  text += wrapped("Usage: " + synopsis_of(options.app().get_name(), table), 0, 7, width);
  for (const std::string& group : groups_of(table)) {
    text += fmt::format("\n{}:\n", group);
    for (const OptionEntry& entry : table)
      if (entry.group == group) text += entry_text(entry, width);
  }
  if (!options.examples().empty()) text += "\nExamples:\n";
  for (const Example& example : options.examples())
    text +=
        fmt::format("  {}\n{}", example.command, "      " + wrapped(example.purpose, 6, 6, width));
  return text;
}

}  // namespace fuselage
