#include "models/architectures/marian_options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>

#include "base/files/yaml.h"
#include "base/numbers/truth.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "models/architectures/cells.h"

namespace fuselage {
namespace {

constexpr std::int64_t kMaxWidth = 1'000'000;
constexpr std::int64_t kMaxDepth = 1'000;
constexpr std::int64_t kMaxVocabulary = 10'000'000;

using Member =
    std::variant<bool MarianOptions::*, std::int64_t MarianOptions::*, std::string MarianOptions::*,
                 std::vector<std::int64_t> MarianOptions::*,
                 std::vector<std::string> MarianOptions::*>;

/// A key: the field that it sets and its allowed values.
struct Key {
  std::string_view name;
  Member member;
  /// For numbers, and for each number of a list.
  std::int64_t least = 0;
  std::int64_t most = 0;
  /// For texts, and for each text of a list; empty: any.
  std::vector<std::string_view> allowed = {};
  /// For texts made of one-letter operations; empty: not such a text.
  std::string_view letters;
};

const std::vector<Key>& keys() {
  using O = MarianOptions;
  static const std::vector<std::string_view> cells = cell_types();
  static const std::vector<std::string_view> activations = {"relu", "swish", "gelu", "sigmoid", ""};
  static const std::vector<Key> table = {
      {"type", &O::type},
      {"original-type", &O::original_type},
      {"dim-vocabs", &O::dim_vocabs, 0, kMaxVocabulary},
      {"input-types", &O::input_types, 0, 0, {"sequence", "class", "alignment", "weight"}},
      {"right-left", &O::right_left},
      {"dim-emb", &O::dim_emb, 1, kMaxWidth},
      {"dim-rnn", &O::dim_rnn, 1, kMaxWidth},
      {"enc-type", &O::enc_type, 0, 0, {"bidirectional", "alternating", "bi-unidirectional"}},
      {"enc-cell", &O::enc_cell, 0, 0, cells},
      {"enc-cell-depth", &O::enc_cell_depth, 1, kMaxDepth},
      {"enc-depth", &O::enc_depth, 1, kMaxDepth},
      {"dec-cell", &O::dec_cell, 0, 0, cells},
      {"dec-cell-base-depth", &O::dec_cell_base_depth, 1, kMaxDepth},
      {"dec-cell-high-depth", &O::dec_cell_high_depth, 1, kMaxDepth},
      {"dec-depth", &O::dec_depth, 1, kMaxDepth},
      {"skip", &O::skip},
      {"layer-normalization", &O::layer_normalization},
      {"nematus-high-state-bias", &O::nematus_high_state_bias},
      {"tied-embeddings", &O::tied_embeddings},
      {"tied-embeddings-src", &O::tied_embeddings_src},
      {"tied-embeddings-all", &O::tied_embeddings_all},
      {"output-omit-bias", &O::output_omit_bias},
      {"transformer-heads", &O::transformer_heads, 1, kMaxDepth},
      {"transformer-no-projection", &O::transformer_no_projection},
      {"transformer-rnn-projection", &O::transformer_rnn_projection},
      {"transformer-pool", &O::transformer_pool},
      {"transformer-dim-ffn", &O::transformer_dim_ffn, 1, kMaxWidth},
      {"transformer-decoder-dim-ffn", &O::transformer_decoder_dim_ffn, 0, kMaxWidth},
      {"transformer-ffn-depth", &O::transformer_ffn_depth, 1, kMaxDepth},
      {"transformer-decoder-ffn-depth", &O::transformer_decoder_ffn_depth, 0, kMaxDepth},
      {"transformer-ffn-activation", &O::transformer_ffn_activation, 0, 0, activations},
      {"transformer-dim-aan", &O::transformer_dim_aan, 1, kMaxWidth},
      {"transformer-aan-depth", &O::transformer_aan_depth, 1, kMaxDepth},
      {"transformer-aan-activation", &O::transformer_aan_activation, 0, 0, activations},
      {"transformer-aan-nogate", &O::transformer_aan_nogate},
      {"transformer-decoder-autoreg",
       &O::transformer_decoder_autoreg,
       0,
       0,
       {"self-attention", "average-attention", "rnn"}},
      {"transformer-tied-layers", &O::transformer_tied_layers, 1, kMaxDepth},
      {"transformer-guided-alignment-layer",
       &O::transformer_guided_alignment_layer,
       1,
       kMaxDepth,
       {"last"}},
      {"transformer-preprocess", &O::transformer_preprocess, 0, 0, {}, "dnr"},
      {"transformer-postprocess", &O::transformer_postprocess, 0, 0, {}, "danrh"},
      {"transformer-postprocess-emb", &O::transformer_postprocess_emb, 0, 0, {}, "dnr"},
      {"transformer-postprocess-top", &O::transformer_postprocess_top, 0, 0, {}, "danrh"},
      {"transformer-train-position-embeddings", &O::transformer_train_position_embeddings},
      {"transformer-train-positions", &O::transformer_train_position_embeddings},
      {"transformer-disable-position-embeddings", &O::transformer_disable_position_embeddings},
      {"transformer-depth-scaling", &O::transformer_depth_scaling},
      {"version", &O::version},
  };
  return table;
}

/// An unsupported feature and the values that switch it off; elements of a list are separated by
/// blanks.
struct Unsupported {
  std::string_view name;
  std::vector<std::string_view> off;
};

const std::vector<Unsupported>& unsupported_keys() {
  static const std::vector<Unsupported> table = {
      {"bert-train-type-embeddings", {"true"}},
      {"bert-type-vocab-size", {"2"}},
      {"bert-mask-symbol", {"[MASK]"}},
      {"bert-sep-symbol", {"[SEP]"}},
      {"bert-class-symbol", {"[CLS]"}},
      {"bert-masking-fraction", {"0.15"}},
      {"char-stride", {"5"}},
      {"char-highway", {"4"}},
      {"char-conv-filters-num", {"200 200 250 250 300 300 300 300"}},
      {"char-conv-filters-widths", {"1 2 3 4 5 6 7 8"}},
      {"factors-combine", {"sum"}},
      {"factors-dim-emb", {"0"}},
      {"lemma-dependency", {""}},
      {"lemma-dim-emb", {"0"}},
      {"separator-symbol", {"[eos]"}},
      {"special-vocab", {""}},
      {"transformer-alibi-shift", {"false"}},
      {"transformer-alibi-trainable", {"false"}},
      {"transformer-attention-mask", {"default", ""}},
      {"transformer-no-affine", {"false"}},
      {"transformer-no-bias", {"false"}},
      {"ulr", {"false"}},
      {"ulr-dim-emb", {"0"}},
      {"ulr-dropout", {"0"}},
      {"ulr-keys-vectors", {""}},
      {"ulr-query-vectors", {""}},
      {"ulr-temperature", {"1"}},
      {"ulr-trainable-transformation", {"false"}},
  };
  return table;
}

/// The value of a key in the file; its conversions throw Error for a wrong value.
class Value {
 public:
  Value(const YAML::Node& node, std::string_view key, const std::string& where)
      : node_(node), key_(key), where_(where) {}

  /// The value on one line; elements of a list are separated by blanks.
  std::string text() const {
    if (node_.IsScalar()) return node_.Scalar();
    if (node_.IsMap()) return "{…}";
    std::string result;
    for (const YAML::Node& item : node_) {
      if (!result.empty()) result += ' ';
      result += item.IsScalar() ? item.Scalar() : "…";
    }
    return result;
  }

  [[noreturn]] void fail(const std::string& allowed) const {
    throw Error(fmt::format("{}: option {} is {}; it must be {}", where_, key_, in_quotes(text()),
                            allowed));
  }

  void read(const Key& key, MarianOptions& options) const {
    std::visit([&](auto member) { options.*member = as(key, options.*member); }, key.member);
  }

 private:
  bool as(const Key&, bool) const {
    const auto value = node_.IsScalar() ? parse_truth(node_.Scalar()) : std::nullopt;
    if (!value) fail("true or false");
    return *value;
  }

  std::int64_t as(const Key& key, std::int64_t) const {
    if (!key.allowed.empty() && node_.IsScalar() && node_.Scalar() == key.allowed.front()) return 0;
    return number(node_, key);
  }

  std::string as(const Key& key, const std::string&) const { return word(node_, key); }

  std::vector<std::int64_t> as(const Key& key, const std::vector<std::int64_t>&) const {
    std::vector<std::int64_t> result;
    for (const YAML::Node& item : list()) result.push_back(number(item, key));
    return result;
  }

  std::vector<std::string> as(const Key& key, const std::vector<std::string>&) const {
    std::vector<std::string> result;
    for (const YAML::Node& item : list()) result.push_back(word(item, key));
    return result;
  }

  const YAML::Node& list() const {
    if (!node_.IsSequence() && !node_.IsNull()) fail("a list");
    return node_;
  }

  std::int64_t number(const YAML::Node& node, const Key& key) const {
    std::string value = node.IsScalar() ? node.Scalar() : "";
    std::int64_t result = 0;
    const char* const end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, result);
    if (error != std::errc() || stop != end || result < key.least || result > key.most)
      fail(fmt::format("{}a whole number from {} to {}",
                       key.allowed.empty() ? "" : fmt::format("{} or ", key.allowed.front()),
                       key.least, key.most));
    return result;
  }

  std::string word(const YAML::Node& node, const Key& key) const {
    if (!node.IsScalar() && !node.IsNull()) fail("a single text");
    std::string value = node.IsScalar() ? node.Scalar() : "";
    if (!key.letters.empty() && value.find_first_not_of(key.letters) != std::string::npos)
      fail(fmt::format("made of the letters {}", in_quotes(key.letters)));
    if (!key.allowed.empty() &&
        std::find(key.allowed.begin(), key.allowed.end(), value) == key.allowed.end())
      fail(fmt::format("one of '{}'", fmt::join(key.allowed, "', '")));
    return value;
  }

  const YAML::Node& node_;
  std::string_view key_;
  const std::string& where_;
};

template <typename Table>
auto find(const Table& table, std::string_view name) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.name == name; });
  return found == table.end() ? nullptr : &*found;
}

void refuse_unless_off(const Unsupported& feature, const Value& value, const std::string& where) {
  const std::string text = value.text();
  const auto is_off = [&](std::string_view off) {
    return text == off || (parse_truth(off) && parse_truth(text) == parse_truth(off));
  };
  if (std::any_of(feature.off.begin(), feature.off.end(), is_off)) return;
  throw Error(fmt::format("{}: option {} is {}, which is not supported; only {} is", where,
                          feature.name, in_quotes(text), in_quotes(feature.off.front())));
}

[[noreturn]] void refuse_unknown(const std::string& name, const std::string& where) {
  std::vector<std::string_view> candidates;
  for (const Key& key : keys()) candidates.push_back(key.name);
  for (const Unsupported& key : unsupported_keys()) candidates.push_back(key.name);
  throw Error(fmt::format("{}: unknown option {} in the model's configuration{}", where,
                          in_quotes(name), did_you_mean(name, candidates)));
}

/// Parses "v1.10.0 …"; another form leaves the numbers unchanged.
void parse_version(MarianOptions& options) {
  const std::string& text = options.version;
  const char* at = text.data();
  const char* const end = at + text.size();
  if (at != end && *at == 'v') ++at;
  int major = 0, minor = 0;
  const auto first = std::from_chars(at, end, major);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.' || major < 0) return;
  const auto second = std::from_chars(first.ptr + 1, end, minor);
  if (second.ec != std::errc() || minor < 0) return;
  options.version_major = major;
  options.version_minor = minor;
}

void read_mapping(const YAML::Node& root, const std::string& where, bool ignore_unknown,
                  MarianOptions& options) {
  for (const auto& item : root) {
    const std::string& name = item.first.Scalar();
    if (const Key* key = find(keys(), name)) {
      Value(item.second, key->name, where).read(*key, options);
    } else if (ignore_unknown) {
      continue;
    } else if (const Unsupported* feature = find(unsupported_keys(), name)) {
      refuse_unless_off(*feature, Value(item.second, feature->name, where), where);
    } else {
      refuse_unknown(name, where);
    }
  }
}

}  // namespace

bool is_marian_model_option(std::string_view name) {
  return find(keys(), name) != nullptr || find(unsupported_keys(), name) != nullptr;
}

MarianOptions parse_marian_options(const std::string& yaml, const std::string& where,
                                   bool ignore_unknown) {
  const YAML::Node root = load_yaml(yaml, where + ": the model's configuration");
  MarianOptions options;
  if (root.IsNull()) return options;
  if (!root.IsMap())
    throw Error(
        fmt::format("{}: the model's configuration is not a mapping of options to values", where));
  read_mapping(root, where, ignore_unknown, options);
  parse_version(options);
  return options;
}

}  // namespace fuselage
