#include "models/marian/decoder_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <span>
#include <string_view>

#include "base/file.h"
#include "base/suggest.h"
#include "base/yaml.h"
#include "fuselage/base/error.h"
#include "models/decode_keys.h"
#include "models/marian/config_entries.h"
#include "models/marian/unused_options.h"

namespace fuselage {
namespace {

/// Keys on which a caller decides and that do not change a translation.
constexpr std::string_view kOfTheCaller[] = {"backend",
                                             "cpu-threads",
                                             "device",
                                             "input",
                                             "max-length-crop",
                                             "memory",
                                             "n-best",
                                             "output",
                                             "quiet",
                                             "stats",
                                             "version",
                                             "threads-per-sentence",
                                             "weights-cache",
                                             "word-scores",
                                             "json",
                                             "no-verify",
                                             "ignore-unknown-config",
                                             "precompute-memory",
                                             "frequency"};

/// Keys on which a caller decides and that change a translation or its scores.
constexpr std::string_view kOptionsOfTheCaller[] = {
    "alignment",     "allow-special", "deterministic", "exact",  "no-spm-decode",
    "no-spm-encode", "passes",        "skip-cost",     "strict", "tf32"};

constexpr std::array<std::string_view, 5> kModelKeys = {"models", "shortlist", "shortlist-union",
                                                        "vocabs", "weights"};

template <typename Range>
bool contains(const Range& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool without_effect(std::string_view key) {
  const auto options = options_without_effect();
  return std::any_of(options.begin(), options.end(),
                     [&](const MarianOption& option) { return option.name == key; });
}

/// Reads the entries of one file.
class ConfigReader {
 public:
  ConfigReader(const std::string& path, bool ignore_unknown)
      : path_(path), ignore_unknown_(ignore_unknown) {}

  DecoderConfig read() {
    const auto entries = parse_config(read_file(path_, YamlLimits{}.bytes), path_);
    if (!entries || std::none_of(entries->begin(), entries->end(), [](const ConfigEntry& entry) {
          return entry.key == "models" && !entry.is_off;
        }))
      throw Error(fmt::format(
          "{}: this is YAML, but no configuration of a decoder, since it names no models", path_));
    std::set<std::string> seen;
    for (const ConfigEntry& entry : *entries) {
      if (!seen.insert(entry.key).second)
        throw Error(fmt::format("{}: {} is given twice", path_, in_quotes(entry.key)));
      read_entry(entry);
    }
    config_.shortlist.union_of_batch = shortlist_union_;
    verify_counts();
    return std::move(config_);
  }

 private:
  void read_entry(const ConfigEntry& entry) {
    if (contains(kOfTheCaller, entry.key) || without_effect(entry.key)) return;
    if (contains(kModelKeys, entry.key)) {
      if (!entry.is_off) read_model_entry(entry);
    } else if (contains(decode_keys(), entry.key)) {
      if (!entry.is_off) set_decode_default(config_.decode, entry.key, single_value(entry), path_);
    } else if (contains(kOptionsOfTheCaller, entry.key)) {
      if (!entry.is_default) config_.notes.push_back(ignored_key(path_, entry.key));
    } else if (!known_to_marian(entry.key) || !entry.is_default) {
      if (!ignore_unknown_) refuse(entry.key);
      config_.notes.push_back(ignored_key(path_, entry.key));
    }
  }

  void read_model_entry(const ConfigEntry& entry) {
    const std::vector<std::string>& values = values_of(entry, path_);
    if (entry.key == "models") config_.models = values;
    if (entry.key == "vocabs") config_.vocabularies = values;
    if (entry.key == "shortlist") {
      try {
        config_.shortlist = parse_shortlist(values);
      } catch (const Error& error) {
        throw Error(fmt::format("{}: 'shortlist': {}", path_, error.what()));
      }
    }
    if (entry.key == "shortlist-union") shortlist_union_ = true;
    if (entry.key == "weights")
      for (const std::string& text : values) {
        const auto weight = parse_number_in(kMemberWeights, text);
        if (!weight)
          throw Error(fmt::format("{}: 'weights' must be numbers from {} to {}, not {}", path_,
                                  kMemberWeights.least, kMemberWeights.most, in_quotes(text)));
        config_.weights.push_back(*weight);
      }
  }

  const std::string& single_value(const ConfigEntry& entry) const {
    const std::vector<std::string>& values = values_of(entry, path_);
    // marian-decoder's precision has a second type, for the optimizer of training.
    const bool second_is_default =
        entry.key == "precision" && values.size() == 2 && values[1] == "float32";
    if (values.size() != 1 && !second_is_default)
      throw Error(fmt::format("{}: '{}' takes 1 value, not {}", path_, entry.key, values.size()));
    return values[0];
  }

  [[noreturn]] void refuse(const std::string& key) const {
    if (known_to_marian(key))
      throw Error(fmt::format("{}: marian-decoder's {} is not supported here; leave it out", path_,
                              in_quotes(key)));
    std::vector<std::string_view> known(decode_keys().begin(), decode_keys().end());
    known.insert(known.end(), kModelKeys.begin(), kModelKeys.end());
    throw Error(
        fmt::format("{}: unknown key {}{}", path_, in_quotes(key), did_you_mean(key, known)));
  }

  void verify_counts() {
    const std::size_t models = config_.models.size();
    if (config_.weights.empty()) config_.weights.assign(models, 1);
    if (config_.weights.size() != models)
      throw Error(fmt::format(
          "{}: 'weights' has {} number{}, but 'models' has {}; give one for each", path_,
          config_.weights.size(), config_.weights.size() == 1 ? "" : "s", models));
    const std::size_t vocabularies = config_.vocabularies.size();
    if (vocabularies == 1)
      throw Error(fmt::format("{}: 'vocabs' must name two files, source and target, not {}", path_,
                              vocabularies));
  }

  const std::string& path_;
  bool ignore_unknown_;
  bool shortlist_union_ = false;
  DecoderConfig config_;
};

}  // namespace

DecoderConfig read_decoder_config(const std::string& path, bool ignore_unknown) {
  return ConfigReader(path, ignore_unknown).read();
}

}  // namespace fuselage
