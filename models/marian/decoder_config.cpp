#include "models/marian/decoder_config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <span>
#include <string_view>

#include "base/files/compression.h"
#include "base/files/yaml.h"
#include "base/numbers/truth.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "models/decode_keys.h"
#include "models/marian/config_entries.h"
#include "models/marian/gemm_precision.h"
#include "models/marian/unused_options.h"

namespace fuselage {
namespace {

/// Keys on which a caller decides and that do not change a translation. skip-cost changes scores
/// only, since it needs a beam of 1.
constexpr std::string_view kOfTheCaller[] = {"alignment",
                                             "backend",
                                             "cpu-threads",
                                             "device",
                                             "devices",
                                             "input",
                                             "max-length-crop",
                                             "memory",
                                             "num-devices",
                                             "n-best",
                                             "output",
                                             "quiet",
                                             "skip-cost",
                                             "stats",
                                             "version",
                                             "threads-per-sentence",
                                             "weights-cache",
                                             "word-scores",
                                             "json",
                                             "n-best-size",
                                             "no-verify",
                                             "ignore-unknown-config",
                                             "precompute-memory",
                                             "frequency"};

/// Keys on which a caller decides and that change a translation or its scores.
constexpr std::string_view kOptionsOfTheCaller[] = {
    "allow-special",   "constraints", "coverage-penalty",     "deterministic",    "exact",
    "force-decode",    "min-length",  "no-repeat-ngram-size", "no-spm-decode",    "no-spm-encode",
    "output-sampling", "passes",      "repetition-penalty",   "replace-unknowns", "strict",
    "terminology",     "tf32"};

constexpr std::array<std::string_view, 7> kModelKeys = {
    "bpe", "gemm-precision", "models", "shortlist", "shortlist-union", "vocabs", "weights"};

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

  DecoderConfig read(std::string_view text) {
    const auto entries = parse_config(text, path_);
    if (!entries || std::none_of(entries->begin(), entries->end(), [](const ConfigEntry& entry) {
          return entry.key == "models" && !entry.is_off;
        }))
      throw Error(fmt::format(
          "{}: this is YAML, but no configuration of a decoder, since it names no models", path_));
    config_.format = entries->front().is_of_amun ? kAmunFormat
                                                 : std::string_view("Marian decoder configuration");
    std::set<std::string> seen;
    for (const ConfigEntry& entry : *entries) {
      if (!seen.insert(entry.key).second)
        throw Error(fmt::format("{}: {} is given twice", path_, in_quotes(entry.key)));
      read_entry(entry);
    }
    config_.shortlist.union_of_batch = shortlist_union_;
    if (gemm_precision_) {
      // A configuration may have the key precision too; this one is for weights in integers.
      config_.decode.precision = gemm_precision_->precision;
      config_.calibration = gemm_precision_->calibration;
    }
    verify_counts();
    return std::move(config_);
  }

 private:
  void read_entry(const ConfigEntry& entry) {
    if (contains(kOfTheCaller, entry.key) || without_effect(entry.key)) return;
    if (const auto meaning = gemm_precision_from_string(entry.key)) {
      // Flags, in place of gemm-precision, of earlier versions of Bergamot.
      if (!entry.is_off) gemm_precision_ = meaning;
    } else if (contains(kModelKeys, entry.key)) {
      if (!entry.is_off) read_model_entry(entry);
    } else if (contains(decode_keys(), entry.key)) {
      if (!entry.is_off) read_decode_entry(entry);
    } else if (contains(kOptionsOfTheCaller, entry.key)) {
      if (!entry.is_default) config_.notes.push_back(ignored_key(path_, entry.key));
    } else if (known_to_marian(entry.key)) {
      if (auto note = passed_over_option(entry, path_)) config_.notes.push_back(*std::move(note));
    } else {
      if (!ignore_unknown_) refuse(entry.key);
      config_.notes.push_back(ignored_key(path_, entry.key));
    }
  }

  void read_decode_entry(const ConfigEntry& entry) {
    const std::string& text = single_value(entry);
    // marian-scorer's normalize is true or false.
    const bool is_bare = entry.key == "normalize" && parse_truth(text) == true;
    set_decode_default(config_.decode, entry.key, is_bare ? "1" : text, path_);
  }

  void read_model_entry(const ConfigEntry& entry) {
    const std::vector<std::string>& values = values_of(entry, path_);
    if (entry.key == "models") config_.models = values;
    if (entry.key == "vocabs") config_.vocabularies = values;
    if (entry.key == "bpe") config_.splitters = {values.front(), values.back()};
    if (entry.key == "bpe" && values.size() > 2)
      throw Error(fmt::format("{}: 'bpe' takes 1 or 2 files, not {}", path_, values.size()));
    if (entry.key == "shortlist") {
      try {
        config_.shortlist = parse_shortlist(values);
      } catch (const Error& error) {
        throw Error(fmt::format("{}: 'shortlist': {}", path_, error.what()));
      }
    }
    if (entry.key == "shortlist-union") shortlist_union_ = true;
    if (entry.key == "gemm-precision") {
      const std::string& text = single_value(entry);
      gemm_precision_ = gemm_precision_from_string(text);
      if (!gemm_precision_)
        throw Error(fmt::format("{}: 'gemm-precision' must be one of {}, not {}", path_,
                                fmt::join(gemm_precision_names(), ", "), in_quotes(text)));
    }
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
  std::optional<GemmPrecision> gemm_precision_;
  DecoderConfig config_;
};

}  // namespace

DecoderConfig read_decoder_config(const std::string& path, bool ignore_unknown) {
  return parse_decoder_config(read_text(path, YamlLimits{}.bytes), path, ignore_unknown);
}

DecoderConfig parse_decoder_config(std::string_view text, const std::string& path,
                                   bool ignore_unknown) {
  return ConfigReader(path, ignore_unknown).read(text);
}

}  // namespace fuselage
