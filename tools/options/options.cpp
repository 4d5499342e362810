#include "tools/options/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iostream>
#include <set>
#include <string_view>
#include <utility>

#include "base/compression.h"
#include "base/suggest.h"
#include "base/yaml.h"
#include "fuselage/base/error.h"
#include "fuselage/base/version.h"
#include "tools/options/files.h"
#include "tools/options/help_text.h"

namespace fuselage {
namespace {

/// Options of marian-decoder, marian-scorer and their configuration files that have no counterpart
/// here.
constexpr std::string_view kNotSupported[] = {"alignment-format",
                                              "authors",
                                              "best-deep",
                                              "build-info",
                                              "cache-size",
                                              "check-nan",
                                              "cite",
                                              "compute-type",
                                              "devices",
                                              "dump-config",
                                              "dump-quantmult",
                                              "factors-combine",
                                              "factor-weight",
                                              "feature",
                                              "force-decode",
                                              "fp16",
                                              "gemm-precision",
                                              "gemm-type",
                                              "ignore-model-config",
                                              "input-types",
                                              "int8",
                                              "int8Alpha",
                                              "int8shift",
                                              "int8shiftAlpha",
                                              "int8shiftAll",
                                              "int8shiftAlphaAll",
                                              "int16",
                                              "interpolate-env-vars",
                                              "log",
                                              "max-length-break",
                                              "mini-batch-fit",
                                              "mini-batch-round-up",
                                              "model-mmap",
                                              "n-best",
                                              "n-best-feature",
                                              "num-devices",
                                              "optimize",
                                              "output-approx-knn",
                                              "output-omit-bias",
                                              "output-sampling",
                                              "port",
                                              "quality",
                                              "quantize-range",
                                              "shortlist",
                                              "shuffle-in-ram",
                                              "skip-cost",
                                              "ssplit-mode",
                                              "ssplit-prefix-file",
                                              "stat-freq",
                                              "summary",
                                              "throttle",
                                              "train-sets",
                                              "tsv",
                                              "tsv-fields",
                                              "type",
                                              "use-legacy-batching",
                                              "weights"};

/// Short names of unsupported options.
constexpr std::pair<char, std::string_view> kNotSupportedShort[] = {
    {'d', "devices"}, {'g', "gemm-type"}, {'p', "port"}};

/// Options of marian-decoder that Fuselage does not need. `values`: number of their values.
struct WithoutEffect {
  std::string_view names;
  int values;
};
constexpr WithoutEffect kWithoutEffect[] = {
    {"--sigterm", 1},           {"--no-nccl", 0},       {"-w,--workspace", 1},
    {"--quiet-translation", 0}, {"--data-threads", 1},  {"--seed", 1},
    {"--log-level", 1},         {"--log-time-zone", 1}, {"--relative-paths", 0},
};

bool known_to_marian(std::string_view name) {
  return std::find(std::begin(kNotSupported), std::end(kNotSupported), name) !=
         std::end(kNotSupported);
}

/// Whether a value in a configuration file switches an option off, so that no support is needed.
bool switches_off(const YAML::Node& value) {
  if (value.IsNull()) return true;
  if (value.IsSequence()) return value.size() == 0;
  if (!value.IsScalar()) return false;
  const std::string& text = value.Scalar();
  return text.empty() || text == "false" || text == "float32";
}

/// Whether a value is the default, as in a complete configuration written by marian-decoder.
bool is_default_of(std::string_view key, const YAML::Node& value) {
  // The model file states its type.
  if (key == "type" || switches_off(value)) return true;
  if (value.IsSequence())
    return std::all_of(value.begin(), value.end(),
                       [&](const YAML::Node& element) { return is_default_of(key, element); });
  if (!value.IsScalar()) return false;
  const std::string& text = value.Scalar();
  return text == "0" || (key == "factors-combine" && text == "sum") ||
         (key == "factor-weight" && text == "1");
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string long_name(const CLI::Option& option) {
  return option.get_lnames().empty() ? std::string() : option.get_lnames().front();
}

/// `--beam_size=6` as `--beam-size=6`.
std::string with_dashes(std::string argument) {
  if (!argument.starts_with("--")) return argument;
  const auto end = std::min(argument.find('='), argument.size());
  std::replace(argument.begin(), argument.begin() + static_cast<std::ptrdiff_t>(end), '_', '-');
  return argument;
}

/// A message of CLI11 on one line.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::vector<std::string> values_of(const YAML::Node& node, const std::string& key,
                                   const std::string& path) {
  if (node.IsScalar()) return {node.Scalar()};
  std::vector<std::string> values;
  if (node.IsSequence())
    for (const YAML::Node& element : node) {
      if (!element.IsScalar())
        throw Error(fmt::format("{}: '{}' must be a list of single values", path, key));
      values.push_back(element.Scalar());
    }
  if (node.IsMap())
    throw Error(
        fmt::format("{}: '{}' is a mapping; a single value or a list is needed", path, key));
  if (values.empty()) throw Error(fmt::format("{}: '{}' has no value", path, key));
  return values;
}

void print_out(const std::string& text) {
  std::cout << text << std::flush;
  if (!std::cout) fail_to_write("standard output");
}

YAML::Node parse_mapping(const std::string& text, const std::string& path) {
  YAML::Node config = load_yaml(text, path);
  if (!config.IsMap())
    throw Error(fmt::format(
        "{}: a configuration is a mapping of option names to values; give a text to translate "
        "before the options",
        path));
  return config;
}

}  // namespace

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
  for (const WithoutEffect& entry : kWithoutEffect) {
    CLI::Option* option = entry.values == 0
                              ? app_.add_flag(std::string(entry.names))
                              : app_.add_option_function<std::string>(std::string(entry.names),
                                                                      [](const std::string&) {});
    option->group("");
  }
}

bool Options::known_short(char name) {
  return app_.get_option_no_throw(std::string{'-', name}) != nullptr;
}

void Options::refuse(const std::string& name, const std::string& where) {
  if (name == "devices")
    throw Error(fmt::format(
        "{}marian-decoder's --devices is not supported; name a GPU with --device cuda:N", where));
  if (known_to_marian(name))
    throw Error(
        fmt::format("{}marian-decoder's --{} is not supported here; leave it out{}", where, name,
                    where.empty() ? "" : ", or pass over such keys with --ignore-unknown-config"));
  std::vector<std::string> names;
  for (const CLI::Option* option : app_.get_options()) names.push_back(long_name(*option));
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::string advice = did_you_mean(name, views);
  if (const std::size_t quote = advice.find('\''); quote != std::string::npos)
    advice.insert(quote + 1, "--");
  if (where.empty()) advice += "; see " + app_.get_name() + " --help";
  throw Error(fmt::format("{}unknown option {}{}", where, in_quotes("--" + name), advice));
}

void Options::check_names(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") return;
    if (argument.size() < 2 || argument[0] != '-') continue;
    if (argument[1] == '-') {
      const std::string name = argument.substr(2, argument.find('=') - 2);
      if (app_.get_option_no_throw("--" + name) == nullptr) refuse(name, "");
    } else if (std::isalpha(static_cast<unsigned char>(argument[1])) != 0 &&
               !known_short(argument[1])) {
      for (const auto& [short_name, name] : kNotSupportedShort)
        if (short_name == argument[1]) refuse(std::string(name), "");
      throw Error(
          fmt::format("unknown option {}; see {} --help", in_quotes(argument), app_.get_name()));
    }
  }
}

bool Options::parse(const std::vector<std::string>& arguments) {
  std::vector<std::string> normalized;
  for (const std::string& argument : arguments) normalized.push_back(with_dashes(argument));
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
  if (option.get_expected_max() == 0 && values[0] != "true" && values[0] != "false")
    throw Error(fmt::format("{}: --{} is true or false, not {}", where, long_name(option),
                            in_quotes(values[0])));
  try {
    option.add_result(values);
    option.run_callback();
  } catch (const CLI::ParseError& error) {
    throw Error(fmt::format("{}: {}", where, one_line(error.what())));
  }
}

void Options::apply_config(const std::string& path, bool ignore_unknown) {
  apply_config_text(read_text(path, YamlLimits{}.bytes), path, ignore_unknown);
}

void Options::apply_config_text(const std::string& text, const std::string& path,
                                bool ignore_unknown) {
  const YAML::Node config = parse_mapping(text, path);
  const YAML::Node relative = config["relative-paths"];
  const bool relative_paths = relative && relative.IsScalar() && relative.Scalar() == "true";
  std::set<std::string> seen;
  for (const auto& entry : config) {
    std::string key = entry.first.Scalar();
    std::replace(key.begin(), key.end(), '_', '-');
    if (!seen.insert(key).second)
      throw Error(fmt::format("{}: {} is given twice", path, in_quotes("--" + key)));
    // marian-decoder writes its version into a configuration.
    if (key == "version" || contains(passed_over_, key)) continue;
    CLI::Option* option = app_.get_option_no_throw("--" + key);
    if (option == nullptr || key == "help" || key == "config") {
      if (known_to_marian(key) && is_default_of(key, entry.second)) continue;
      if (!ignore_unknown) refuse(key, path + ": ");
      ignored_.push_back(fmt::format("{}: {} is ignored", path, in_quotes(key)));
      continue;
    }
    if (option->count() > 0 || switches_off(entry.second)) continue;
    std::vector<std::string> values = values_of(entry.second, key, path);
    // The values after a shortlist's path are numbers.
    const std::size_t paths = key == "models" || key == "vocabs" ? values.size()
                              : key == "shortlist"               ? 1
                                                                 : 0;
    for (std::size_t i = 0; relative_paths && i < paths; ++i)
      values[i] = (std::filesystem::path(path).parent_path() / values[i]).string();
    set(*option, values, path);
  }
}

void Options::apply_defaults(const std::map<std::string, std::string>& values,
                             const std::string& where) {
  for (const auto& [name, value] : values) {
    CLI::Option* option = app_.get_option_no_throw("--" + name);
    if (option == nullptr || option->count() > 0) continue;
    set(*option, {value}, where);
  }
}

}  // namespace fuselage
