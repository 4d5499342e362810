#include "tools/options/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <set>
#include <string_view>
#include <utility>

#include "base/files/compression.h"
#include "base/files/yaml.h"
#include "base/numbers/truth.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "fuselage/base/version.h"
#include "models/marian/config_entries.h"
#include "models/marian/unused_options.h"
#include "tools/options/files.h"
#include "tools/options/foreign_options.h"
#include "tools/options/help_text.h"

namespace fuselage {
namespace {

/// Short names of unsupported options.
constexpr std::pair<char, std::string_view> kNotSupportedShort[] = {
    {'d', "devices"}, {'g', "gemm-type"}, {'p', "port"}};

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Of ASCII, whatever the locale.
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string long_name(const CLI::Option& option) {
  return option.get_lnames().empty() ? std::string() : option.get_lnames().front();
}

/// A message of CLI11 on one line.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

void print_out(const std::string& text) {
  std::cout << text << std::flush;
  if (!std::cout) fail_to_write("standard output");
}

}  // namespace

std::string with_dashes(std::string argument) {
  if (!argument.starts_with("--")) return argument;
  const auto end = std::min(argument.find('='), argument.size());
  std::replace(argument.begin(), argument.begin() + static_cast<std::ptrdiff_t>(end), '_', '-');
  return argument;
}

Options::Options(const std::string& command, const std::string& description,
                 std::vector<Example> examples)
    : app_(description, "fuselage " + command), examples_(std::move(examples)) {
  app_.set_help_flag("-h,--help", "Print this help and exit")->group(kHelpGroup);
  app_.set_version_flag("--version", fmt::format("fuselage {}", version()),
                        "Print the version and exit")
      ->group(kHelpGroup);
  app_.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void Options::accept_without_effect() {
  for (const MarianOption& entry : options_without_effect()) {
    std::string names = fmt::format("--{}", entry.name);
    if (app_.get_option_no_throw(names) != nullptr) continue;  // this command has it
    if (entry.short_name != 0) names = fmt::format("-{},{}", entry.short_name, names);
    CLI::Option* option =
        entry.is_flag ? app_.add_flag(names)
                      : app_.add_option_function<std::string>(names, [](const std::string&) {});
    option->group("");
  }
}

void Options::keep_rest_behind(const std::string& name, const std::string& description) {
  app_.add_flag(name, description);
  rest_flag_ = name;
}

bool Options::known_short(char name) {
  return app_.get_option_no_throw(std::string{'-', name}) != nullptr;
}

void Options::advise_against(const std::string& option) const {
  if (!advice_) return;
  if (const std::string advice = advice_(option); !advice.empty()) throw Error(advice);
}

void Options::refuse(const std::string& name, const std::string& where) {
  if (const ForeignOption* foreign = find_foreign_option(name);
      foreign && app_.get_option_no_throw(fmt::format("--{}", foreign->counterpart)) != nullptr)
    throw Error(fmt::format("{}--{} is an option of CTranslate2; here it is {}", where, name,
                            foreign->advice));
  if (name == "devices")
    throw Error(
        "marian-decoder's --devices is not supported; name GPUs with --device cuda:0,cuda:1");
  if (known_to_marian(name))
    throw Error(fmt::format("marian-decoder's --{} is not supported here{}{}; leave it out", name,
                            reason_against(name).empty() ? "" : ": ", reason_against(name)));
  if (is_for_training(name))
    throw Error(fmt::format(
        "{}--{} is an option of marian for training; {}", where, name,
        where.empty() ? "leave it out"
                      : "give the configuration for the decoder, which training writes beside the "
                        "model: model.npz.decoder.yml"));
  std::vector<std::string> names;
  for (const CLI::Option* option : app_.get_options()) names.push_back(long_name(*option));
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::string advice = did_you_mean(name, views);
  if (const std::size_t quote = advice.find('\''); quote != std::string::npos)
    advice.insert(quote + 1, "--");
  if (where.empty()) advice += (advice.empty() ? "; see " : " See ") + app_.get_name() + " --help";
  throw Error(fmt::format("{}unknown option {}{}", where, in_quotes("--" + name), advice));
}

void Options::check_names(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") return;
    if (argument.size() < 2 || argument[0] != '-') continue;
    if (argument[1] == '-') {
      const std::string name = argument.substr(2, argument.find('=') - 2);
      if (app_.get_option_no_throw("--" + name) != nullptr) continue;
      advise_against("--" + name);
      refuse(name, "");
    } else if (is_letter(argument[1]) && !known_short(argument[1])) {
      advise_against(argument.substr(0, 2));
      for (const auto& [short_name, name] : kNotSupportedShort)
        if (short_name == argument[1]) refuse(std::string(name), "");
      throw Error(
          fmt::format("unknown option {}; see {} --help", in_quotes(argument), app_.get_name()));
    }
  }
}

bool Options::parse(const std::vector<std::string>& arguments) {
  auto end = arguments.end();
  if (!rest_flag_.empty()) end = std::find(arguments.begin(), end, rest_flag_);
  if (end != arguments.end()) rest_.assign(++end, arguments.end());
  std::vector<std::string> normalized;
  for (auto at = arguments.begin(); at != end; ++at) normalized.push_back(with_dashes(*at));
  check_names(normalized);
  std::reverse(normalized.begin(), normalized.end());
  try {
    app_.parse(normalized);
  } catch (const CLI::CallForHelp&) {
    print_out(help_text(*this, help_width()));
    return false;
  } catch (const CLI::CallForVersion&) {
    print_out(app_.version() + "\n");
    return false;
  } catch (const CLI::ArgumentMismatch& error) {
    // Removes the type of the value and the validator's description from CLI11's message.
    const std::string text = one_line(error.what());
    throw Error(fmt::format("{} needs a value; see {} --help", text.substr(0, text.find(':')),
                            app_.get_name()));
  } catch (const CLI::ExtrasError&) {
    throw Error(fmt::format("{} belongs to no option; see {} --help",
                            in_quotes(app_.remaining().back()), app_.get_name()));
  } catch (const CLI::ParseError& error) {
    throw Error(fmt::format("{}; see {} --help", one_line(error.what()), app_.get_name()));
  }
  check_values();
  return true;
}

void Options::check_values() {
  for (const CLI::Option* option : app_.get_options()) {
    const std::string name = option->get_name();
    for (const std::string& value : option->results())
      if (value.size() > 1 && value[0] == '-' && app_.get_option_no_throw(value) != nullptr)
        throw Error(fmt::format("{} needs a value, but the option {} follows; see {} --help", name,
                                value, app_.get_name()));
    // CLI11 gives an option of several values all following arguments and keeps the last ones.
    const auto most = static_cast<std::size_t>(option->get_expected_max());
    if (most > 1 && option->results().size() > most)
      throw Error(fmt::format(
          "{} takes {} values, not {}; arguments of the command stand before its options", name,
          most, option->results().size()));
  }
}

void Options::set(CLI::Option& option, const std::vector<std::string>& values,
                  const std::string& where) {
  const auto most = static_cast<std::size_t>(std::max(option.get_expected_max(), 1));
  if (values.size() > most)
    throw Error(fmt::format("{}: --{} takes {} value{}, not {}", where, long_name(option), most,
                            most == 1 ? "" : "s", values.size()));
  std::vector<std::string> results = values;
  const auto truth = values.size() == 1 ? parse_truth(values[0]) : std::nullopt;
  if (option.get_expected_max() == 0) {
    if (!truth)
      throw Error(fmt::format("{}: --{} is true or false, not {}", where, long_name(option),
                              in_quotes(values[0])));
    results = {*truth ? "true" : "false"};
  } else if (option.get_expected_min() == 0 && truth == true) {
    results = {""};  // the option without a value
  }
  try {
    option.add_result(results);
    option.run_callback();
  } catch (const CLI::ParseError& error) {
    throw Error(fmt::format("{}: {}", where, one_line(error.what())));
  }
}

/// Before other options, some of which, as early-stopping, have another meaning in training.
void Options::refuse_training(const std::vector<ConfigEntry>& entries, const std::string& path) {
  for (const ConfigEntry& entry : entries)
    if (is_for_training(entry.key) && app_.get_option_no_throw("--" + entry.key) == nullptr &&
        !known_to_marian(entry.key))
      refuse(entry.key, path + ": ");
}

void Options::apply_config(const std::string& path, bool ignore_unknown) {
  apply_config_text(read_text(path, YamlLimits{}.bytes), path, ignore_unknown);
}

void Options::apply_config_text(const std::string& text, const std::string& path,
                                bool ignore_unknown) {
  const auto entries = parse_config(text, path);
  if (!entries)
    throw Error(fmt::format(
        "{}: a configuration is a mapping of option names to values; give a text to translate "
        "before the options",
        path));
  if (!ignore_unknown) refuse_training(*entries, path);
  std::set<std::string> seen;
  for (const ConfigEntry& entry : *entries) {
    const std::string& key = entry.key;
    if (!seen.insert(key).second)
      throw Error(fmt::format("{}: {} is given twice", path, in_quotes("--" + key)));
    // marian-decoder writes its version into a configuration.
    if (key == "version" || contains(passed_over_, key)) continue;
    CLI::Option* option = app_.get_option_no_throw("--" + key);
    if (option == nullptr || key == "help" || key == "config") {
      if (known_to_marian(key)) {
        if (auto note = passed_over_option(entry, path)) ignored_.push_back(*std::move(note));
        continue;
      }
      if (!ignore_unknown) refuse(key, path + ": ");
      ignored_.push_back(ignored_key(path, key));
      continue;
    }
    if (option->count() > 0 || entry.is_off) continue;
    set(*option, values_of(entry, path), path);
  }
}

}  // namespace fuselage
