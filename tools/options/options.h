#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "models/marian/config_entries.h"

namespace fuselage {

/// Title of the last group, with --help and --version.
inline constexpr const char* kHelpGroup = "Help";

/// An example of a command line.
struct Example {
  std::string command;  ///< "fuselage translate < in.txt > out.txt"
  std::string purpose;  ///< a sentence
};

/// `--beam_size=6` as `--beam-size=6`.
std::string with_dashes(std::string argument);

/// Options of one sub-command: CLI11 with marian-decoder's conventions. '_' is accepted for '-' in
/// long names, and configuration files have long names as keys. Unsupported options of
/// marian-decoder are refused by name on the command line, and passed over with a note in
/// configurations, which programs write. The first value that is set counts: command line, then
/// configuration files.
class Options {
 public:
  Options(const std::string& command, const std::string& description,
          std::vector<Example> examples = {});

  CLI::App& app() { return app_; }
  const CLI::App& app() const { return app_; }
  const std::vector<Example>& examples() const { return examples_; }

  /// Puts options that are registered from now on into the group of this title.
  void begin_group(const std::string& title) { app_.option_defaults()->group(title); }

  /// Adds options of marian-decoder that are accepted but have no effect.
  void accept_without_effect();

  /// Adds a flag `name` ("--against"); the arguments behind it are not parsed but kept in rest().
  void keep_rest_behind(const std::string& name, const std::string& description);
  const std::vector<std::string>& rest() const { return rest_; }

  /// The message about an option that the command does not have, "--beam-size" or "-b"; empty:
  /// the usual one.
  using Advice = std::function<std::string(const std::string& option)>;
  void advise(Advice advice) { advice_ = std::move(advice); }

  /// Ignores these keys of configuration files.
  void pass_over(std::vector<std::string> names) { passed_over_ = std::move(names); }

  /// Parses the command line after the name of the sub-command. False if help or the version was
  /// requested, and printed. Throws Error for unknown options and wrong values.
  bool parse(const std::vector<std::string>& arguments);

  /// Sets the options of a YAML file that are not set yet. With the key `relative-paths`, paths in
  /// the file are relative to the file. Throws Error naming the file and the key.
  void apply_config(const std::string& path, bool ignore_unknown);

  /// The same for the text of such a file.
  void apply_config_text(const std::string& text, const std::string& path, bool ignore_unknown);

  /// Notes on ignored keys of configurations.
  const std::vector<std::string>& ignored() const { return ignored_; }

  /// Whether the command has the option "--beam-size" or "-b".
  bool has(const std::string& option) const {
    return option.size() > 1 && option[0] == '-' && app_.get_option_no_throw(option) != nullptr;
  }

  /// Whether the option has been set by any source.
  bool given(const std::string& name) { return app_.get_option(name)->count() > 0; }

 private:
  bool known_short(char name);
  /// Throws Error for values that were probably meant for another option.
  void check_values();
  void advise_against(const std::string& option) const;
  [[noreturn]] void refuse(const std::string& name, const std::string& where);
  void refuse_training(const std::vector<ConfigEntry>& entries, const std::string& path);
  void check_names(const std::vector<std::string>& arguments);
  void set(CLI::Option& option, const std::vector<std::string>& values, const std::string& where);

  CLI::App app_;
  std::vector<Example> examples_;
  std::string rest_flag_;
  std::vector<std::string> rest_;
  Advice advice_;
  std::vector<std::string> passed_over_;
  std::vector<std::string> ignored_;
};

}  // namespace fuselage
