#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace fuselage {

/// An option or a positional argument, for help, manual pages and completion.
struct OptionEntry {
  std::vector<std::string> names;    ///< "-b", "--beam-size"; empty for an argument
  std::string argument;              ///< name of a positional argument: "FILE"; empty for none
  std::string value;                 ///< name of its value: "N"; empty for a flag
  std::string description;           ///< one or more sentences without a full stop at the end
  std::string range;                 ///< "from 1 to 1024"; empty: any value is allowed
  std::vector<std::string> choices;  ///< allowed words; empty: any value is allowed
  std::string initial;               ///< its default; empty: none
  std::string group;                 ///< title of its group
  bool value_optional = false;
  bool several_values = false;

  /// Whether the value is the path of a file or a directory.
  bool takes_path() const { return value.starts_with("FILE") || value.starts_with("DIR"); }
};

/// The visible options of a command in the order of their registration: the only source of help,
/// manual pages and completion.
std::vector<OptionEntry> option_table(const CLI::App& app);

/// Titles of the groups in the order of their first entries.
std::vector<std::string> groups_of(const std::vector<OptionEntry>& table);

/// "--beam-size N", "-q, --quiet", "--alignment[=FORMAT]"; for an argument its name.
std::string usage_of(const OptionEntry& entry);

/// The description with range, choices and default: "Hypotheses … (from 1 to 1024; default 12)".
std::string full_description(const OptionEntry& entry);

/// "fuselage translate [OPTIONS] [FILE]...".
std::string synopsis_of(const std::string& command, const std::vector<OptionEntry>& table);

}  // namespace fuselage
