#include "models/marian/nematus_names.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string_view>

#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

struct Renaming {
  std::string_view stored, name;
};

// Stems only: the layer-norm gain and shift of a cell's matrix are renamed with the matrix.
constexpr std::array<Renaming, 12> kDecoderCells{{{"decoder_U", "decoder_cell1_U"},
                                                  {"decoder_Ux", "decoder_cell1_Ux"},
                                                  {"decoder_W", "decoder_cell1_W"},
                                                  {"decoder_Wx", "decoder_cell1_Wx"},
                                                  {"decoder_b", "decoder_cell1_b"},
                                                  {"decoder_bx", "decoder_cell1_bx"},
                                                  {"decoder_U_nl", "decoder_cell2_U"},
                                                  {"decoder_Ux_nl", "decoder_cell2_Ux"},
                                                  {"decoder_Wc", "decoder_cell2_W"},
                                                  {"decoder_Wcx", "decoder_cell2_Wx"},
                                                  {"decoder_b_nl", "decoder_cell2_b"},
                                                  {"decoder_bx_nl", "decoder_cell2_bx"}}};

constexpr std::array<Renaming, 20> kFeedForward{{
    {"Wemb_dec", "decoder_Wemb"},
    {"ff_state_W", "decoder_ff_state_W"},
    {"ff_state_b", "decoder_ff_state_b"},
    {"ff_state_gamma", "decoder_ff_state_gamma"},
    {"ff_state_ln_s", "decoder_ff_state_ln_s"},
    {"ff_state_ln_b", "decoder_ff_state_ln_b"},
    {"ff_logit_prev_W", "decoder_ff_logit_l1_W0"},
    {"ff_logit_prev_b", "decoder_ff_logit_l1_b0"},
    {"ff_logit_prev_ln_s", "decoder_ff_logit_l1_ln_s0"},
    {"ff_logit_prev_ln_b", "decoder_ff_logit_l1_ln_b0"},
    {"ff_logit_lstm_W", "decoder_ff_logit_l1_W1"},
    {"ff_logit_lstm_b", "decoder_ff_logit_l1_b1"},
    {"ff_logit_lstm_ln_s", "decoder_ff_logit_l1_ln_s1"},
    {"ff_logit_lstm_ln_b", "decoder_ff_logit_l1_ln_b1"},
    {"ff_logit_ctx_W", "decoder_ff_logit_l1_W2"},
    {"ff_logit_ctx_b", "decoder_ff_logit_l1_b2"},
    {"ff_logit_ctx_ln_s", "decoder_ff_logit_l1_ln_s2"},
    {"ff_logit_ctx_ln_b", "decoder_ff_logit_l1_ln_b2"},
    {"ff_logit_W", "decoder_ff_logit_l2_W"},
    {"ff_logit_b", "decoder_ff_logit_l2_b"},
}};

bool is_training_state(std::string_view name) {
  return name == "decoder_c_tt" || name == "uidx" || name == "history_errs";
}

/// Removes "_drt_<i>" from a name; returns i, or 0 if the name has no such part.
int take_transition(std::string& stem) {
  const std::size_t at = stem.find("_drt_");
  if (at == std::string::npos) return 0;
  int number = 0;
  const char* end = stem.data() + stem.size();
  const auto [stop, error] = std::from_chars(stem.data() + at + 5, end, number);
  if (error != std::errc{} || stop != end || number < 1 || number > 1000)
    throw Error(
        fmt::format("parameter {} has no transition number after '_drt_'", in_quotes(stem)));
  stem.resize(at);
  return number;
}

std::string rename_encoder(const std::string& stem, int transition) {
  const bool right_to_left = stem.rfind("encoder_r_", 0) == 0;
  const std::string leaf = stem.substr(right_to_left ? 10 : 8);
  std::string name = right_to_left ? "encoder_bi_r_" : "encoder_bi_";
  if (transition > 0) name += "cell" + std::to_string(transition + 1) + "_";
  return name + leaf;
}

std::string rename_decoder(const std::string& stem, int transition) {
  for (const Renaming& r : kDecoderCells) {
    if (stem != r.stored) continue;
    std::string name(r.name);
    if (transition > 0)
      name.replace(0, std::string_view("decoder_cell2").size(),
                   "decoder_cell" + std::to_string(transition + 2));
    return name;
  }
  return stem;
}

std::string rename_parameter(const std::string& stored) {
  for (const Renaming& r : kFeedForward)
    if (stored == r.stored) return std::string(r.name);
  constexpr std::string_view kReadoutGamma = "ff_logit_l1_gamma";
  if (stored.rfind(kReadoutGamma, 0) == 0) return "decoder_" + stored;

  std::string stem = stored;
  std::string suffix;
  if (stem.size() > 4 && (stem.compare(stem.size() - 4, 4, "_lns") == 0 ||
                          stem.compare(stem.size() - 4, 4, "_lnb") == 0)) {
    suffix = stem.substr(stem.size() - 4);
    stem.resize(stem.size() - 4);
  }
  const int transition = take_transition(stem);
  if (stem.rfind("encoder_", 0) == 0) return rename_encoder(stem, transition) + suffix;
  if (stem.rfind("decoder_", 0) == 0) return rename_decoder(stem, transition) + suffix;
  return stored;
}

}  // namespace

bool has_nematus_names(const TensorMap& stored) { return stored.count("decoder_c_tt") != 0; }

TensorMap rename_nematus_parameters(const TensorMap& stored, const MarianOptions& options) {
  if (!has_nematus_names(stored)) return stored;
  const bool shared_source = options.tied_embeddings_all || options.tied_embeddings_src;
  TensorMap renamed;
  for (const auto& [name, tensor] : stored) {
    if (is_training_state(name)) continue;
    std::string target = rename_parameter(name);
    if (name == "Wemb") target = shared_source && options.type == "amun" ? "Wemb" : "encoder_Wemb";
    // Files of newer versions also contain names of Marian.
    if (name.rfind("decoder_cell", 0) == 0 || name.rfind("decoder_ff_", 0) == 0) target = name;
    if (!renamed.emplace(target, tensor).second)
      throw Error(fmt::format("parameter {} is stored twice, once as {}", in_quotes(target),
                              in_quotes(name)));
  }
  return renamed;
}

}  // namespace fuselage
