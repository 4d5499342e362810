#include "models/architectures/s2s.h"

#include <fmt/format.h>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "models/architectures/gru.h"
#include "models/architectures/seq2seq.h"

namespace fuselage {
namespace {

class S2S {
 public:
  S2S(Parameters& parameters, const MarianOptions& options)
      : p_(parameters),
        b_(parameters.builder()),
        o_(options),
        vocabularies_(parameters, options, "decoder_ff_logit_l2"),
        d_(vocabularies_.domains()) {}

  void build() {
    const Expr context = encoder(vocabularies_.source_embedding().named("source_embedding"));
    decoder(context.named("context"), vocabularies_.target_embedding().named("target_embedding"));
  }

 private:
  /// The norm of a cell. (The norms of attention, start state and deep output depend on the model
  /// type.)
  RnnNorm cell_norm(const std::string& cell) const {
    if (!o_.layer_normalization) return RnnNorm::none;
    return cell == "gru-nematus" ? RnnNorm::nematus : RnnNorm::joint;
  }

  RnnNorm layer_norm_style() const {
    if (!o_.layer_normalization) return RnnNorm::none;
    return o_.type == "nematus" ? RnnNorm::nematus : RnnNorm::joint;
  }

  // --- Encoder ---

  /// One recurrent layer over the source positions; its cells are stacked at each position.
  Expr encoder_layer(const std::vector<std::string>& cells, Expr input, bool reversed) {
    const DomainId scan = b_.graph().add_scan(cells.front(), d_.source, reversed);
    const Expr state = b_.state(b_.constant(0, {o_.dim_rnn}), scan).named(cells.front() + ".state");
    Expr x = broadcast(input, scan);
    Expr s = state;
    for (const std::string& cell : cells) {
      const bool transition = !x.valid();
      s = gru(p_, cell, x, s,
              {.size = o_.dim_rnn,
               .norm = cell_norm(o_.enc_cell),
               .nematus_bias = transition ? NematusBias::after_norm : NematusBias::input});
      x = Expr{};
    }
    b_.next(state, s);
    return collect(s);
  }

  std::vector<std::string> cell_names(const std::string& layer, std::int64_t number) const {
    std::vector<std::string> names;
    for (std::int64_t j = 1; j <= o_.enc_cell_depth; ++j)
      names.push_back(number == 1 && j == 1 ? layer : fmt::format("{}_cell{}", layer, j));
    return names;
  }

  /// `depth` layers. With `skip`, each layer but the first adds its input to its output.
  Expr encoder_stack(const std::string& prefix, Expr x, std::int64_t depth, bool first_reversed,
                     bool alternate) {
    bool reversed = first_reversed;
    for (std::int64_t i = 1; i <= depth; ++i) {
      const std::string layer = i == 1 ? prefix : fmt::format("{}_l{}", prefix, i);
      const Expr output = encoder_layer(cell_names(layer, i), x, reversed);
      x = o_.skip && i > 1 ? output + x : output;
      if (alternate) reversed = !reversed;
    }
    return x;
  }

  Expr encoder(Expr embedding) {
    const bool alternate = o_.enc_type == "alternating";
    const bool uni = o_.enc_type == "bi-unidirectional";
    const std::int64_t depth = uni ? 1 : o_.enc_depth;
    Expr x = concat({encoder_stack("encoder_bi", embedding, depth, false, alternate),
                     encoder_stack("encoder_bi_r", embedding, depth, true, alternate)});
    if (!uni) return x;
    for (std::int64_t i = 2; i <= o_.enc_depth; ++i) {
      std::vector<std::string> cells;
      for (std::int64_t j = 1; j <= o_.enc_cell_depth; ++j)
        cells.push_back(fmt::format("encoder_l{}_cell{}", i, j));
      const Expr output = encoder_layer(cells, x, false);
      // Layer 2 is the first layer of a stack of its own, and so has no skip connection.
      x = o_.skip && i > 2 ? output + x : output;
    }
    return x;
  }

  // --- Decoder ---

  /// in · W + b, with the norm of the model type: Marian's parameter is `gain`, Nematus's are
  /// `norm_gain` and `norm_shift`.
  Expr normalized_affine(Expr in, const std::string& w, const std::string& b, std::int64_t out,
                         const std::string& gain, const std::string& norm_gain,
                         const std::string& norm_shift) {
    const Expr product = dot(in, p_.matrix(w, in.width(), out));
    const Expr bias = p_.vector(b, out);
    switch (layer_norm_style()) {
      case RnnNorm::none:
        return product + bias;
      case RnnNorm::joint:
        return layer_norm(product, p_.vector(gain, out), bias, kRnnNormEpsilon);
      case RnnNorm::nematus:
        break;
    }
    return layer_norm(product + bias, p_.vector(norm_gain, out), p_.vector(norm_shift, out), 1e-5);
  }

  Expr start_state(Expr context) {
    const Builder::Scope scope(b_, "decoder_ff_state");
    const std::string n = "decoder_ff_state";
    return tanh(normalized_affine(mean_rows(context), n + "_W", n + "_b", o_.dim_rnn, n + "_gamma",
                                  n + "_ln_s", n + "_ln_b"));
  }

  /// Additive attention (Bahdanau et al. 2015, appendix A.1.2): weights over the source tokens of
  /// each hypothesis.
  Expr attention_weights(Expr context, Expr query) {
    const Builder::Scope scope(b_, "decoder_attention");
    const std::int64_t size = context.width();
    Expr keys = dot(context, p_.matrix("decoder_Wc_att", size, size));
    Expr q = dot(query, p_.matrix("decoder_W_comb_att", query.width(), size));
    const Expr bias = p_.vector("decoder_b_att", size);
    switch (layer_norm_style()) {
      case RnnNorm::none:
        keys = keys + bias;
        break;
      case RnnNorm::joint:
        keys = layer_norm(keys, p_.vector("decoder_att_gamma1", size), bias, kRnnNormEpsilon);
        q = layer_norm(q, p_.vector("decoder_att_gamma2", size), {}, kRnnNormEpsilon);
        break;
      case RnnNorm::nematus:
        keys = nematus_norm(p_, keys + bias, "decoder_Wc_att");
        q = nematus_norm(p_, q, "decoder_W_comb_att");
        break;
    }
    const Expr hidden = tanh(right(keys, d_.hypothesis_source) + left(q, d_.hypothesis_source));
    return softmax_over_right(dot(hidden, p_.matrix("decoder_U_att", size, 1)));
  }

  struct Attended {
    Expr state, context;
  };

  /// The conditional GRU: a cell on the last word, attention queried by its state, a cell on the
  /// attended context, then transitions.
  Attended base_layer(Expr context, Expr embedding, Expr state) {
    const GruOptions first{.size = o_.dim_rnn, .norm = cell_norm(o_.dec_cell)};
    GruOptions later = first;
    later.bias_in_reset = true;
    later.nematus_bias = NematusBias::state;

    Expr s = gru(p_, "decoder_cell1", embedding, state, first);
    const Expr weights = attention_weights(context, s);
    b_.output("alignment", weights.named("alignment"));
    const Expr attended = mix(weights, context).named("attended");
    s = gru(p_, "decoder_cell2", attended, s, later);
    for (std::int64_t j = 3; j <= o_.dec_cell_base_depth; ++j)
      s = gru(p_, fmt::format("decoder_cell{}", j), {}, s, later);
    return {s, attended};
  }

  Expr high_layer(std::int64_t number, Expr x, Expr state) {
    Expr s = state;
    for (std::int64_t j = 1; j <= o_.dec_cell_high_depth; ++j)
      s = gru(p_, fmt::format("decoder_l{}_cell{}", number, j), j == 1 ? x : Expr{}, s,
              {.size = o_.dim_rnn,
               .norm = cell_norm(o_.dec_cell),
               .nematus_bias = j == 1 ? NematusBias::input : NematusBias::after_norm});
    return s;
  }

  Expr layer_state(Expr start, std::int64_t number) {
    return b_.state(start, d_.parent).named(fmt::format("decoder_l{}.state", number));
  }

  void decoder(Expr context, Expr embedding) {
    const Expr start = start_state(context);
    const Expr base_state = layer_state(start, 1);
    const auto [s, attended] = base_layer(context, embedding, broadcast(base_state, d_.hypothesis));
    b_.next(base_state, s);
    Expr top = s;
    for (std::int64_t l = 2; l <= o_.dec_depth; ++l) {
      const Expr state = layer_state(start, l);
      const Expr output = high_layer(l, top, broadcast(state, d_.hypothesis));
      b_.next(state, output);
      top = o_.skip ? output + top : output;
    }
    b_.output("logits",
              vocabularies_.logits(deep_output(embedding, top, attended)).named("logits"));
  }

  /// tanh of the sum of an affine term for each of the last word, the state and the attended
  /// context.
  Expr deep_output(Expr embedding, Expr state, Expr attended) {
    const Builder::Scope scope(b_, "decoder_ff_logit_l1");
    const std::string n = "decoder_ff_logit_l1";
    Expr sum;
    const Expr inputs[] = {embedding, state, attended};
    for (int i = 0; i < 3; ++i) {
      const Expr term =
          normalized_affine(inputs[i], fmt::format("{}_W{}", n, i), fmt::format("{}_b{}", n, i),
                            o_.dim_emb, fmt::format("{}_gamma{}", n, i),
                            fmt::format("{}_ln_s{}", n, i), fmt::format("{}_ln_b{}", n, i));
      sum = i == 0 ? term : sum + term;
    }
    return tanh(sum);
  }

  Parameters& p_;
  Builder& b_;
  const MarianOptions& o_;
  Vocabularies vocabularies_;
  const Seq2SeqDomains& d_;
};

void refuse_unsupported(const MarianOptions& o) {
  const auto refuse = [](std::string_view key, const auto& value, std::string_view known) {
    throw Error(fmt::format("{} {} is not supported in a recurrent model; it can be {}", key,
                            in_quotes(fmt::to_string(value)), known));
  };
  if (o.enc_type != "bidirectional" && o.enc_type != "alternating" &&
      o.enc_type != "bi-unidirectional")
    refuse("enc-type", o.enc_type, "bidirectional, alternating or bi-unidirectional");
  for (const auto& [key, cell] : {std::pair("enc-cell", o.enc_cell), {"dec-cell", o.dec_cell}})
    if (cell != "gru" && cell != "gru-nematus") refuse(key, cell, "gru or gru-nematus");
  if (o.dec_cell_base_depth < 2) refuse("dec-cell-base-depth", o.dec_cell_base_depth, "2 or more");
  if (o.type == "nematus" && (o.enc_type != "bidirectional" || o.enc_cell != "gru-nematus" ||
                              o.dec_cell != "gru-nematus" || o.dec_cell_high_depth > 1))
    throw Error(
        fmt::format("a model of type nematus has enc-type bidirectional, cells gru-nematus and "
                    "dec-cell-high-depth 1, but this one has {}, {} and {}, {}",
                    o.enc_type, o.enc_cell, o.dec_cell, o.dec_cell_high_depth));
  if (o.type == "amun" && (o.enc_depth != 1 || o.dec_depth != 1 || o.enc_cell_depth != 1 ||
                           o.dec_cell_base_depth != 2 || o.skip))
    throw Error("a model of type amun has one layer of one cell on each side, without skip");
}

}  // namespace

void build_s2s(Parameters& parameters, const MarianOptions& options) {
  refuse_unsupported(options);
  S2S(parameters, options).build();
}

}  // namespace fuselage
