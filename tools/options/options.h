#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fuselage {

/// Title of the group of --help and --version, which stands last.
inline constexpr const char* kHelpGroup = "Help";

/// A command line that shows the use of a command.
struct Example {
  std::string command;  ///< "fuselage translate < in.txt > out.txt"
  std::string purpose;  ///< a sentence
};

/// Options of one sub-command, with marian-decoder's habits on top of CLI11: '_' stands for '-' in
/// long names, configuration files have the long names as keys, and what marian-decoder knows but
/// Fuselage does not is refused by name. A value that is set stays: the command line comes before
/// the configuration files, these before the model's own defaults.
class Options {
 public:
  Options(const std::string& command, const std::string& description,
          std::vector<Example> examples = {});

  CLI::App& app() { return app_; }
  const CLI::App& app() const { return app_; }
  const std::vector<Example>& examples() const { return examples_; }

  /// Options that are registered from here on stand in the group of this title.
  void begin_group(const std::string& title) { app_.option_defaults()->group(title); }

  /// Adds options of marian-decoder that are taken and make no difference here.
  void accept_without_effect();

  /// Passes over these keys of configuration files.
  void pass_over(std::vector<std::string> names) { passed_over_ = std::move(names); }

  /// Parses the command line after the name of the sub-command. False when help or the version was
  /// asked for, and printed. Throws Error for unknown options and wrong values.
  bool parse(const std::vector<std::string>& arguments);

  /// Sets the options that a YAML file gives and the command line does not. With `relative-paths`,
  /// paths in it are relative to the file. Throws Error naming the file and the key.
  void apply_config(const std::string& path, bool ignore_unknown);

  /// The same of the text of such a file.
  void apply_config_text(const std::string& text, const std::string& path, bool ignore_unknown);

  /// Notes on the keys of configurations that were ignored.
  const std::vector<std::string>& ignored() const { return ignored_; }

  /// Sets options that are not set yet, by long name.
  void apply_defaults(const std::map<std::string, std::string>& values, const std::string& where);

  /// True when the option was given, wherever.
  bool given(const std::string& name) { return app_.get_option(name)->count() > 0; }

 private:
  bool known_short(char name);
  /// Throws Error where values went to another option than the user meant.
  void check_values();
  [[noreturn]] void refuse(const std::string& name, const std::string& where);
  void check_names(const std::vector<std::string>& arguments);
  void set(CLI::Option& option, const std::vector<std::string>& values, const std::string& where);

  CLI::App app_;
  std::vector<Example> examples_;
  std::vector<std::string> passed_over_;
  std::vector<std::string> ignored_;
};

}  // namespace fuselage
