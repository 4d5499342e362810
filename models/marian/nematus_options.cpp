#include "models/marian/nematus_options.h"

#include <fmt/format.h>

#include <initializer_list>
#include <utility>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "models/formats/json.h"

namespace fuselage {
namespace {

using Json = nlohmann::json;

/// Features under their names in both versions, the only value that is supported, and what to say.
struct Only {
  std::initializer_list<const char*> names;
  Json value;
  std::string_view reason;
};

const std::initializer_list<Only>& only_supported() {
  static const std::initializer_list<Only> features = {
      {{"model_type"}, "rnn", "transformers of Nematus start with the symbol <GO>"},
      {{"encoder"}, "gru", "LSTM cells of Nematus have another order of gates"},
      {{"decoder"}, "gru_cond", "LSTM cells of Nematus have another order of gates"},
      {{"decoder_deep", "rnn_dec_deep_cell"}, "gru", "one attention is supported"},
      {{"dec_deep_context", "rnn_dec_deep_context"}, false, "higher layers read one input"},
      {{"factors"}, 1, "factored vocabularies are not supported"},
      {{"deep_fusion_lm"}, false, "language models as scorers are not supported"},
      {{"softmax_mixture_size"}, 1, "there is one softmax"},
      {{"rnn_lexical_model"}, false, "a lexical model beside the network is not supported"},
      {{"output_hidden_activation"}, "tanh", "the readout has tanh"},
      {{"rnn_layer_normalization_type"}, "layernorm", "that is the norm of Nematus"},
  };
  return features;
}

class Reader {
 public:
  Reader(const Json& root, const std::string& path) : root_(root), path_(path) {}

  void expect_supported() const {
    for (const Only& feature : only_supported())
      for (const char* name : feature.names)
        if (const auto found = root_.find(name); found != root_.end())
          if (const bool off = found->is_null() || *found == feature.value; !off)
            throw Error(fmt::format("{}: {} is {}, which is not supported: {}; only {} is", path_,
                                    name, shown(*found), feature.reason, feature.value.dump()));
  }

  std::vector<std::string> paths(const char* name) const {
    const Json* value = find({name});
    if (value == nullptr) return {};
    if (value->is_string()) return {value->get<std::string>()};
    std::vector<std::string> result;
    if (value->is_array())
      for (const Json& element : *value)
        if (element.is_string()) result.push_back(element.get<std::string>());
    if (!value->is_array() || result.size() != value->size())
      fail({name}, *value, "a list of file names");
    return result;
  }

  bool flag(std::initializer_list<const char*> names) const {
    const Json* value = find(names);
    if (value == nullptr) return false;
    if (!value->is_boolean()) fail(names, *value, "true or false");
    return value->get<bool>();
  }

  double number(std::initializer_list<const char*> names, double fallback) const {
    const Json* value = find(names);
    if (value == nullptr) return fallback;
    if (!value->is_number()) fail(names, *value, "a number");
    return value->get<double>();
  }

  double probability(std::initializer_list<const char*> names, double fallback) const {
    const double value = number(names, fallback);
    if (!(value >= 0 && value < 1)) fail(names, *find(names), "from 0 to less than 1");
    return value;
  }

 private:
  const Json* find(std::initializer_list<const char*> names) const {
    for (const char* name : names)
      if (const auto found = root_.find(name); found != root_.end() && !found->is_null())
        return &*found;
    return nullptr;
  }

  [[noreturn]] void fail(std::initializer_list<const char*> names, const Json& value,
                         std::string_view needed) const {
    throw Error(
        fmt::format("{}: {} must be {}, not {}", path_, *names.begin(), needed, shown(value)));
  }

  static std::string shown(const Json& value) {
    return value.is_structured() ? fmt::format("an {}", value.type_name())
                                 : in_quotes(value.dump(-1, ' ', true));
  }

  const Json& root_;
  const std::string& path_;
};

}  // namespace

NematusOptions parse_nematus_options(std::string_view json, const std::string& path) {
  NematusOptions options;
  if (json.empty()) return options;
  const Json root = load_json(json, path);
  if (!root.is_object())
    throw Error(fmt::format("{}: this is no JSON object of the options of Nematus", path));
  const Reader reader(root, path);
  reader.expect_supported();
  const bool dropout = reader.flag({"use_dropout", "rnn_use_dropout"});
  options.dropout_source = reader.probability({"dropout_source", "rnn_dropout_source"}, 0);
  options.dropout_target = reader.probability({"dropout_target", "rnn_dropout_target"}, 0);
  options.dropout_embedding =
      reader.probability({"dropout_embedding", "rnn_dropout_embedding"}, 0.2);
  options.dropout_hidden = reader.probability({"dropout_hidden", "rnn_dropout_hidden"}, 0.2);
  options.dictionaries = reader.paths("dictionaries");
  if (options.dictionaries.empty())
    for (const char* name : {"source_dicts", "target_dict"})
      for (std::string& file : reader.paths(name)) options.dictionaries.push_back(std::move(file));
  // As Nematus itself decides for files that do not say.
  const bool has_new_names = root.contains("embedding_size");
  options.trained_in_tensorflow =
      root.contains("theano_compat") ? !reader.flag({"theano_compat"}) : has_new_names;
  options.scale_by_dropout = dropout && reader.number({"model_version"}, 0) < 0.1;
  return options;
}

}  // namespace fuselage
