#include "models/marian/nematus_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "models/marian/nematus_names.h"
#include "models/marian/nematus_options.h"

namespace fuselage {
namespace {

constexpr std::string_view kGains = "_wns";
constexpr int kMaxLevels = 1000;

bool is_no_parameter(std::string_view name) {
  return name == "decoder_c_tt" || name == "uidx" || name == "history_errs" ||
         name == "zipped_params" || name.starts_with("adam");
}

/// A tensor of f32 of its own bytes.
Tensor own_copy(const Tensor& tensor) {
  const Tensor numbers = tensor.to_f32();
  Tensor copy(DType::f32, numbers.shape());
  std::memcpy(copy.mutable_bytes(), numbers.bytes(), numbers.size_bytes());
  return copy;
}

/// What is left of the name of a parameter in level `level` of a side: of "encoder_r_2_U_drt_1" in
/// "encoder_r" it is "U_drt_1", level 2.
struct LevelName {
  int level = 1;
  std::string leaf;
};

LevelName level_name(std::string_view name) {
  LevelName result{.leaf = std::string(name)};
  const auto [stop, error] = std::from_chars(name.data(), name.data() + name.size(), result.level);
  if (error != std::errc() || stop == name.data() + name.size() || *stop != '_')
    return {.leaf = std::string(name)};
  if (result.level < 2 || result.level > kMaxLevels)
    throw Error(fmt::format("parameter {} is of level {}; levels with a number are 2 to {}",
                            in_quotes(name), result.level, kMaxLevels));
  result.leaf = name.substr(static_cast<std::size_t>(stop + 1 - name.data()));
  return result;
}

class Converter {
 public:
  Converter(const TensorMap& stored, const NematusOptions& options, const std::string& where)
      : options_(options), where_(where) {
    for (const auto& [name, tensor] : stored)
      if (!is_no_parameter(name)) tensors_.emplace(name, own_copy(tensor));
  }

  NematusModel convert() {
    fold_gains();
    untie_scaled_output();
    if (options_.scale_by_dropout) scale_inputs();
    add_missing_biases();
    measure();
    rename();
    std::string yaml = config();
    return {std::move(tensors_), std::move(yaml)};
  }

 private:
  bool has(const std::string& name) const { return tensors_.contains(name); }

  /// Marian has another name for it, also among those of Nematus.
  bool has_output_matrix() const {
    return has("ff_logit_W") || has("decoder_ff_logit_l2_W") || has("decoder_ff_logit_l2_Wt");
  }

  /// Weight normalization: each column is divided by its length and its gain.
  void fold_gains() {
    TensorMap gains;
    for (auto at = tensors_.begin(); at != tensors_.end();) {
      const bool is_gain = at->first.ends_with(kGains);
      if (is_gain) gains.emplace(at->first.substr(0, at->first.size() - kGains.size()), at->second);
      at = is_gain ? tensors_.erase(at) : std::next(at);
    }
    for (const auto& [name, gain] : gains) {
      const auto found = tensors_.find(name);
      if (found == tensors_.end() || found->second.shape().size() != 2 ||
          found->second.shape()[1] != gain.size())
        throw Error(fmt::format("{}: {}{} are gains of no matrix {} with a column for each", where_,
                                name, kGains, name));
      const std::int64_t rows = found->second.shape()[0], columns = gain.size();
      auto* numbers = found->second.mutable_data<float>();
      for (std::int64_t c = 0; c < columns; ++c) {
        double squares = 1e-5;
        for (std::int64_t r = 0; r < rows; ++r)
          squares += static_cast<double>(numbers[r * columns + c]) * numbers[r * columns + c];
        const double factor = 1 / (std::sqrt(squares) * gain.data<float>()[c]);
        for (std::int64_t r = 0; r < rows; ++r)
          numbers[r * columns + c] = static_cast<float>(numbers[r * columns + c] * factor);
      }
    }
  }

  /// A tied output matrix gets numbers of its own where only its input is scaled.
  void untie_scaled_output() {
    if (!options_.scale_by_dropout || has_output_matrix()) return;
    const auto table = tensors_.find(has("Wemb_dec") ? "Wemb_dec" : "Wemb");
    if (table == tensors_.end() || table->second.shape().size() != 2) return;
    const std::int64_t rows = table->second.shape()[0], width = table->second.shape()[1];
    Tensor output(DType::f32, {width, rows});
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < width; ++c)
        output.mutable_data<float>()[c * rows + r] = table->second.data<float>()[r * width + c];
    tensors_.emplace("ff_logit_W", std::move(output));
  }

  /// What dropout kept of the input of a matrix, 1 for other parameters.
  double kept(const std::string& name) const {
    const double hidden = 1 - options_.dropout_hidden;
    const double embedding = 1 - options_.dropout_embedding;
    if (name == "encoder_W" || name == "encoder_Wx" || name == "encoder_r_W" ||
        name == "encoder_r_Wx")
      return embedding * (1 - options_.dropout_source);
    if (name == "decoder_W" || name == "decoder_Wx" || name == "ff_logit_prev_W")
      return embedding * (1 - options_.dropout_target);
    if (name.starts_with("ff_")) return name.ends_with("_W") ? hidden : 1;
    if (!name.starts_with("encoder_") && !name.starts_with("decoder_")) return 1;
    // The matrices of cells and of the attention begin with U or W; gains and shifts end otherwise.
    if (name.ends_with("_lns") || name.ends_with("_lnb")) return 1;
    const bool right = name.starts_with("encoder_r_");
    const std::string leaf = level_name(std::string_view(name).substr(right ? 10 : 8)).leaf;
    return leaf[0] == 'U' || leaf[0] == 'W' ? hidden : 1;
  }

  void scale_inputs() {
    for (auto& [name, tensor] : tensors_) {
      const double factor = kept(name);
      if (factor == 1) continue;
      auto* numbers = tensor.mutable_data<float>();
      for (std::int64_t i = 0; i < tensor.size(); ++i)
        numbers[i] = static_cast<float>(numbers[i] * factor);
    }
  }

  /// Transitions of encoders that TensorFlow trained have no biases.
  void add_missing_biases() {
    std::vector<std::pair<std::string, std::int64_t>> missing;
    for (const auto& [name, tensor] : tensors_) {
      const std::size_t drt = name.find("_drt_");
      if (drt == std::string::npos || !name.starts_with("encoder_") || tensor.shape().empty() ||
          name.ends_with("_lns") || name.ends_with("_lnb"))
        continue;
      for (const auto& [matrix, bias] : {std::pair("_U_drt_", "_b"), {"_Ux_drt_", "_bx"}})
        if (const std::size_t at = name.find(matrix); at != std::string::npos)
          if (std::string wanted = name.substr(0, at) + bias + name.substr(drt); !has(wanted))
            missing.emplace_back(std::move(wanted), tensor.shape().back());
    }
    for (const auto& [name, size] : missing) tensors_.emplace(name, Tensor(DType::f32, {1, size}));
  }

  /// The highest number of `pattern` followed by a number in the names, else `least`.
  int count_levels(std::string_view prefix) const {
    int levels = 1;
    for (const auto& [name, tensor] : tensors_)
      if (name.starts_with(prefix))
        levels = std::max(levels, level_name(std::string_view(name).substr(prefix.size())).level);
    return levels;
  }

  int count_transitions(const std::string& stem) const {
    int count = 0;
    while (count < kMaxLevels && has(fmt::format("{}_drt_{}", stem, count + 1))) ++count;
    return count;
  }

  void measure() {
    encoder_depth_ = count_levels("encoder_");
    decoder_depth_ = count_levels("decoder_");
    encoder_cells_ = 1 + count_transitions("encoder_U");
    base_cells_ = 2 + count_transitions("decoder_U_nl");
    high_cells_ = decoder_depth_ > 1 ? 1 + count_transitions("decoder_2_U") : 1;
    normalized_ = has("encoder_U_lns");
    tied_output_ = !has_output_matrix();
    shared_ = !has("Wemb_dec");
    if (has("Wemb1"))
      throw Error(fmt::format(
          "{}: the model has embeddings of source factors (Wemb1), which are not supported",
          where_));
    for (const char* name : {"Wemb", "encoder_Ux"})
      if (!has(name) || tensors_.at(name).shape().size() != 2)
        throw Error(
            fmt::format("{}: {} is missing or no matrix; the file is damaged, or no "
                        "model of Nematus with GRU cells",
                        where_, name));
  }

  /// Level n ≥ 2 of the encoder is a layer of the stack that has its direction: Marian's first
  /// stack reads from the left in odd layers and from the right in even ones.
  std::string encoder_name(const LevelName& name, bool right_to_left) const {
    const bool second = right_to_left == (name.level % 2 == 1);
    const std::string stack = second ? "encoder_bi_r" : "encoder_bi";
    return fmt::format("{}_l{}_{}", stack, name.level, cell_leaf(name.leaf));
  }

  /// "U_drt_1" as "cell2_U", and "U_drt_1_lns" as "cell2_U_lns".
  static std::string cell_leaf(std::string leaf) {
    const std::size_t drt = leaf.find("_drt_");
    if (drt == std::string::npos) return "cell1_" + leaf;
    std::string norm;
    for (const std::string_view suffix : {"_lns", "_lnb"})
      if (leaf.ends_with(suffix)) norm = suffix;
    leaf.resize(leaf.size() - norm.size());
    int number = 0;
    const char* const end = leaf.data() + leaf.size();
    const auto [stop, error] = std::from_chars(leaf.data() + drt + 5, end, number);
    if (error != std::errc() || stop != end || number < 1 || number > kMaxLevels)
      throw Error(
          fmt::format("parameter {} has no transition number after '_drt_'", in_quotes(leaf)));
    return fmt::format("cell{}_{}{}", number + 1, leaf.substr(0, drt), norm);
  }

  void rename() {
    // The number of the top level decides which stack the context begins with.
    if (encoder_depth_ % 2 == 0) swap_halves();
    TensorMap flat, deep;
    for (auto& [name, tensor] : tensors_) {
      for (const std::string_view prefix : {"encoder_r_", "encoder_", "decoder_"}) {
        if (!name.starts_with(prefix)) continue;
        const LevelName level = level_name(std::string_view(name).substr(prefix.size()));
        if (level.level == 1) break;
        deep.emplace(prefix == "decoder_"
                         ? fmt::format("decoder_l{}_{}", level.level, cell_leaf(level.leaf))
                         : encoder_name(level, prefix == "encoder_r_"),
                     tensor);
        break;
      }
    }
    for (const auto& [name, tensor] : tensors_)
      if (!is_deep(name)) flat.emplace(name, tensor);
    // A sign of these names to the renaming.
    flat.emplace("decoder_c_tt", Tensor(DType::f32, {1, 1}));
    MarianOptions names;
    names.type = shared_ ? "amun" : "nematus";
    names.tied_embeddings_src = shared_;
    tensors_ = rename_nematus_parameters(flat, names);
    for (auto& [name, tensor] : deep)
      if (!tensors_.emplace(name, std::move(tensor)).second)
        throw Error(fmt::format("{}: parameter {} is stored twice", where_, in_quotes(name)));
  }

  static bool is_deep(std::string_view name) {
    for (const std::string_view prefix : {"encoder_r_", "encoder_", "decoder_"})
      if (name.starts_with(prefix)) return level_name(name.substr(prefix.size())).level > 1;
    return false;
  }

  /// Exchanges the halves of the rows that read the context.
  void swap_halves() {
    for (const char* name :
         {"ff_state_W", "decoder_Wc_att", "decoder_Wc", "decoder_Wcx", "ff_logit_ctx_W"}) {
      const auto found = tensors_.find(name);
      if (found == tensors_.end() || found->second.shape().size() != 2 ||
          found->second.shape()[0] % 2 != 0)
        continue;  // Building the model refuses it.
      auto* numbers = found->second.mutable_data<float>();
      const std::int64_t half = found->second.size() / 2;
      std::swap_ranges(numbers, numbers + half, numbers + half);
    }
  }

  std::string config() const {
    const auto yes = [](bool value) { return value ? "true" : "false"; };
    // Type nematus is normalized as Nematus is, s2s otherwise.
    return fmt::format(
        "type: {}\nenc-type: {}\nenc-cell: gru-nematus\ndec-cell: gru-nematus\n"
        "enc-cell-depth: {}\nenc-depth: {}\ndec-cell-base-depth: {}\ndec-cell-high-depth: {}\n"
        "dec-depth: {}\nskip: {}\nlayer-normalization: {}\ndim-emb: {}\ndim-rnn: {}\n"
        "tied-embeddings: {}\ntied-embeddings-src: {}\nnematus-high-state-bias: {}\n",
        normalized_ ? "nematus" : "s2s", encoder_depth_ > 1 ? "alternating" : "bidirectional",
        encoder_cells_, encoder_depth_, base_cells_, high_cells_, decoder_depth_,
        yes(encoder_depth_ > 1 || decoder_depth_ > 1), yes(normalized_),
        renamed_width(shared_ ? "Wemb" : "encoder_Wemb"), renamed_width("encoder_bi_Ux"),
        yes(tied_output_), yes(shared_), yes(decoder_depth_ > 1 && options_.trained_in_tensorflow));
  }

  std::int64_t renamed_width(const std::string& name) const {
    return tensors_.at(name).shape().back();
  }

  const NematusOptions& options_;
  const std::string& where_;
  TensorMap tensors_;
  int encoder_depth_ = 1, decoder_depth_ = 1;
  int encoder_cells_ = 1, base_cells_ = 2, high_cells_ = 1;
  bool normalized_ = false, tied_output_ = false, shared_ = false;
};

}  // namespace

bool is_nematus_model(const TensorMap& stored) {
  return stored.contains("Wemb") && stored.contains("encoder_Ux") && stored.contains("ff_state_W");
}

NematusModel read_nematus_model(const TensorMap& stored, std::string_view json,
                                const std::string& where) {
  const NematusOptions options = parse_nematus_options(json, where + ".json");
  return Converter(stored, options, where).convert();
}

}  // namespace fuselage
