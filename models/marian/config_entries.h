#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fuselage {

/// Whether a list of names has this one.
template <typename Range>
bool contains(const Range& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// An entry of a configuration of marian-decoder: an option and its values.
struct ConfigEntry {
  std::string key;                  ///< the option's long name, with '-' for '_'
  std::vector<std::string> values;  ///< a single value, or a list; see values_of
  bool is_off = false;              ///< the value disables the option
  /// The value is the default, as in a complete configuration that marian-decoder wrote.
  bool is_default = false;
  bool is_of_amun = false;  ///< it stands for an entry of a configuration of Amun
  std::string problem;      ///< why `values` cannot be used; empty: they can
};

/// Reads a YAML text, in order; a configuration of Amun as what it means in marian-decoder. With
/// the key relative-paths, paths are relative to `path`, the file of the text, but for names of
/// standard input and output; a path of a model, vocabulary or list that exists in compressed form
/// only gets the extension of that. Returns nullopt for a text that is no mapping. Throws the
/// errors of load_yaml.
std::optional<std::vector<ConfigEntry>> parse_config(std::string_view text,
                                                     const std::string& path);

/// The values of an entry, at least one. Throws Error with `path` and the key for a mapping, a list
/// of lists, and no value.
const std::vector<std::string>& values_of(const ConfigEntry& entry, const std::string& path);

/// The note on an unknown key of the configuration `path` that is ignored.
std::string ignored_key(const std::string& path, const std::string& key);

/// The note on an option of marian-decoder in the configuration `path` that has no counterpart
/// here, with the reason; nullopt for one that nobody misses: it is at its default, or a model's
/// own configuration decides on it.
std::optional<std::string> passed_over_option(const ConfigEntry& entry, const std::string& path);

}  // namespace fuselage
