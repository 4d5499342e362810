#include "models/marian/amun_entries.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/files/yaml.h"
#include "base/numbers/truth.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

/// Types of scorers that are models of Nematus.
constexpr std::string_view kNematusTypes[] = {"Nematus", "nematus", "nematus2", "amun", "Amun"};

/// Keys about devices, output and logs.
constexpr std::string_view kAmunWithoutEffect[] = {"devices",
                                                   "gpu-threads",
                                                   "fpga-threads",
                                                   "show-weights",
                                                   "wipo",
                                                   "log-progress",
                                                   "log-info",
                                                   "return-alignment",
                                                   "input-file",
                                                   "output-file",
                                                   "return-soft-alignment",
                                                   "return-nematus-alignment",
                                                   "max-batch",
                                                   "encoding-threads",
                                                   "use-fused-softmax",
                                                   "use-tensor-cores",
                                                   "debug",
                                                   "relative-paths"};

/// Keys with the meaning that they have in marian-decoder.
constexpr std::string_view kCommon[] = {"allow-unk",  "beam-size",  "cpu-threads",
                                        "maxi-batch", "mini-batch", "mini-batch-words",
                                        "n-best",     "quiet"};

class Translation {
 public:
  Translation(const YAML::Node& config, const std::string& path) : config_(config), path_(path) {}

  std::vector<ConfigEntry> entries() {
    add_scorers();
    add_files();
    for (const auto& item : config_) add_other(item.first.Scalar(), item.second);
    add_default("beam-size", "1");
    add_default("normalize", "0");
    add_default("max-length", length_limit("200", "max-length"));
    add_default("max-length-factor", "2");
    return std::move(entries_);
  }

 private:
  [[noreturn]] void fail(std::string_view key, std::string_view reason) const {
    throw Error(fmt::format("{}: {} {}", path_, in_quotes(key), reason));
  }

  void add(std::string key, std::vector<std::string> values) {
    ConfigEntry entry{.key = std::move(key), .values = std::move(values), .is_of_amun = true};
    if (entry.values.size() == 1)
      entry.is_off = entry.values[0].empty() || parse_truth(entry.values[0]) == false;
    if (entry.values.empty()) entry.problem = "has no value";
    entry.is_default = entry.is_off;
    entries_.push_back(std::move(entry));
  }

  void add_default(std::string_view key, const std::string& value) {
    if (std::none_of(entries_.begin(), entries_.end(),
                     [&](const ConfigEntry& entry) { return entry.key == key; }))
      add(std::string(key), {value});
  }

  /// The single values of a list, or of a single value.
  std::vector<std::string> texts(std::string_view key, const YAML::Node& value) const {
    if (value.IsScalar()) return {value.Scalar()};
    std::vector<std::string> result;
    if (value.IsSequence())
      for (const YAML::Node& element : value)
        if (element.IsScalar()) result.push_back(element.Scalar());
    if (!value.IsSequence() || result.size() != value.size())
      fail(key, "must be a single value or a list of single values");
    return result;
  }

  /// The only file of a key that may have one for each field of a line.
  std::string file(std::string_view key, const YAML::Node& value) const {
    if (value.IsSequence() && value.size() > 0 && value[0].IsSequence())
      fail(key, "has lists of files, for factors, which are not supported");
    const std::vector<std::string> files = texts(key, value);
    if (files.size() != 1)
      fail(key, fmt::format("has {} files, one for each field of a line; one is supported",
                            files.size()));
    return files[0];
  }

  void add_scorers() {
    const YAML::Node scorers = config_["scorers"];
    if (!scorers.IsMap() || scorers.size() == 0)
      fail("scorers", "must be a mapping of names to scorers, at least one");
    const YAML::Node weights = config_["weights"];
    if (weights && !weights.IsMap()) fail("weights", "must be a mapping of scorers to weights");
    std::vector<std::string> models, factors;
    for (const auto& item : scorers) {
      const std::string& name = item.first.Scalar();
      models.push_back(model_of(name, item.second));
      const YAML::Node weight = weights ? weights[name] : YAML::Node();
      if (weights && (!weight || !weight.IsScalar()))
        fail("weights", fmt::format("has no number for the scorer {}", in_quotes(name)));
      factors.push_back(weights ? weight.Scalar() : "1");
    }
    if (weights)
      for (const auto& item : weights)
        if (!scorers[item.first.Scalar()])
          fail("weights", fmt::format("has a number for {}, which is no scorer",
                                      in_quotes(item.first.Scalar())));
    add("models", std::move(models));
    add("weights", std::move(factors));
  }

  std::string model_of(const std::string& name, const YAML::Node& scorer) const {
    const std::string where = fmt::format("{}: scorer {}", path_, in_quotes(name));
    if (!scorer.IsMap()) throw Error(where + " must be a mapping with a type and a path");
    const YAML::Node type = scorer["type"], model = scorer["path"], tab = scorer["tab"];
    const std::string text = type && type.IsScalar() ? type.Scalar() : "Nematus";
    if (text == "KenLM" || text == "lm")
      throw Error(fmt::format(
          "{} is a language model ({}), and language models as scorers are not supported; leave it "
          "out, with its weight",
          where, text));
    if (!contains(kNematusTypes, text))
      throw Error(fmt::format("{} has the type {}, which is not supported; it can be {}", where,
                              in_quotes(text), fmt::join(kNematusTypes, ", ")));
    if (tab && (!tab.IsScalar() || tab.Scalar() != "0"))
      throw Error(where + " reads another field of a line (tab), which is not supported");
    if (!model || !model.IsScalar() || model.Scalar().empty())
      throw Error(where + " has no path of a model");
    return model.Scalar();
  }

  void add_files() {
    const YAML::Node source = config_["source-vocab"], target = config_["target-vocab"];
    if (bool(source) != bool(target))
      fail(source ? "target-vocab" : "source-vocab", "is missing; give both or none");
    if (source) add("vocabs", {file("source-vocab", source), file("target-vocab", target)});
    if (const YAML::Node codes = config_["bpe"]; codes && !codes.IsNull())
      add("bpe", {file("bpe", codes)});
    const YAML::Node filter = config_["softmax-filter"];
    if (!filter || filter.IsNull()) return;
    std::vector<std::string> values = texts("softmax-filter", filter);
    if (values.empty() || values.size() > 3)
      fail("softmax-filter", "must be a file, and the numbers FIRST and BEST");
    if (values.size() < 2) values.emplace_back("10000");
    if (values.size() < 3) values.emplace_back("1000");
    add("shortlist", std::move(values));
  }

  /// Amun's limit does not count the end symbol.
  std::string length_limit(const std::string& text, std::string_view key) const {
    if (text.empty() || text.size() > 6 ||
        text.find_first_not_of("0123456789") != std::string::npos)
      fail(key, fmt::format("must be a whole number, not {}", in_quotes(text)));
    return std::to_string(std::stoi(text) + 1);
  }

  void add_other(std::string key, const YAML::Node& value) {
    std::replace(key.begin(), key.end(), '_', '-');
    if (contains(std::initializer_list<std::string_view>{"scorers", "weights", "source-vocab",
                                                         "target-vocab", "bpe", "softmax-filter"},
                 key) ||
        contains(kAmunWithoutEffect, key))
      return;
    const bool is_off =
        value.IsNull() ||
        (value.IsScalar() && (value.Scalar().empty() || parse_truth(value.Scalar()) == false));
    if (key == "load-weights" && !is_off)
      fail(key, "names a file of weights, which is not read; write them under 'weights'");
    if (is_off && key == "load-weights") return;
    std::vector<std::string> values =
        value.IsNull() ? std::vector<std::string>{""} : texts(key, value);
    const auto single = [&]() -> const std::string& {
      if (values.size() != 1) fail(key, "takes one value");
      return values[0];
    };
    if (key == "normalize") {
      add(key, {parse_truth(single()) == true ? "1" : is_off ? "0" : single()});
    } else if (key == "max-length") {
      add(key, {length_limit(single(), key)});
    } else if (key == "max-length-multiple") {
      add("max-length-factor", {single()});
    } else if (key == "no-debpe" || key == "debpe") {
      const bool leave = key == "debpe" ? is_off : parse_truth(single()) == true;
      add("no-spm-decode", {leave ? "true" : "false"});
    } else if (contains(kCommon, key)) {
      for (std::string& text : values)
        if (parse_truth(text) == true || is_off) text = is_off ? "false" : "true";
      add(key, std::move(values));
    } else {
      throw Error(
          fmt::format("{}: unknown key {} in a configuration of Amun", path_, in_quotes(key)));
    }
  }

  const YAML::Node& config_;
  const std::string& path_;
  std::vector<ConfigEntry> entries_;
};

}  // namespace

bool is_amun_config(const YAML::Node& config) { return config.IsMap() && config["scorers"]; }

std::vector<ConfigEntry> amun_entries(const YAML::Node& config, const std::string& path) {
  return Translation(config, path).entries();
}

}  // namespace fuselage
