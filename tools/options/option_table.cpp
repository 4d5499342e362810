#include "tools/options/option_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "text/split.h"
#include "tools/options/options.h"

namespace fuselage {
namespace {

/// The words of "{a,b}".
std::vector<std::string> words_of(std::string_view braces) {
  std::string list(braces.substr(1, braces.size() - 2));
  std::replace(list.begin(), list.end(), ',', ' ');
  std::vector<std::string> words;
  for_each_word(list, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

OptionEntry entry_of(const CLI::Option& option) {
  OptionEntry entry{.description = option.get_description(),
                    .initial = option.get_default_str(),
                    .group = option.get_group(),
                    .value_optional = option.get_expected_min() == 0,
                    .several_values = option.get_expected_max() > 1};
  for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  entry.argument = option.get_positional() ? option.get_name(true) : "";
  if (option.get_expected_max() == 0) return entry;
  // CLI11 appends the description of a validator to the name of the type.
  const std::string type = option.get_type_name();
  const std::size_t colon = std::min(type.find(':'), type.size());
  entry.value = type.substr(0, colon);
  const std::string limits = colon < type.size() ? type.substr(colon + 1) : "";
  if (limits.starts_with('{') && limits.ends_with('}'))
    entry.choices = words_of(limits);
  else
    entry.range = limits;
  return entry;
}

}  // namespace

std::vector<OptionEntry> option_table(const CLI::App& app) {
  std::vector<OptionEntry> table;
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) table.push_back(entry_of(*option));
  std::stable_partition(table.begin(), table.end(),
                        [](const OptionEntry& entry) { return entry.group != kHelpGroup; });
  return table;
}

std::vector<std::string> groups_of(const std::vector<OptionEntry>& table) {
  std::vector<std::string> groups;
  for (const OptionEntry& entry : table)
    if (std::find(groups.begin(), groups.end(), entry.group) == groups.end())
      groups.push_back(entry.group);
  return groups;
}

std::string usage_of(const OptionEntry& entry) {
  if (entry.names.empty()) return entry.argument;
  std::string text = fmt::format("{}", fmt::join(entry.names, ", "));
  if (entry.value.empty()) return text;
  return text + (entry.value_optional ? "[=" + entry.value + "]"
                                      : " " + entry.value + (entry.several_values ? "..." : ""));
}

std::string full_description(const OptionEntry& entry) {
  std::vector<std::string> remarks;
  if (!entry.choices.empty()) remarks.push_back(fmt::format("{}", fmt::join(entry.choices, ", ")));
  if (!entry.range.empty()) remarks.push_back(entry.range);
  if (!entry.initial.empty()) remarks.push_back("default " + entry.initial);
  if (remarks.empty()) return entry.description;
  return fmt::format("{} ({})", entry.description, fmt::join(remarks, "; "));
}

std::string synopsis_of(const std::string& command, const std::vector<OptionEntry>& table) {
  std::string text = command + " [OPTIONS]";
  for (const OptionEntry& entry : table)
    if (!entry.argument.empty())
      text += fmt::format(" [{}]{}", entry.argument, entry.several_values ? "..." : "");
  return text;
}

}  // namespace fuselage
