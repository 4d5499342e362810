#include "models/architectures/s2s.h"

#include <fmt/format.h>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "models/architectures/cells.h"

namespace fuselage {
namespace {

class S2sEncoder {
 public:
  S2sEncoder(Parameters& parameters, const MarianOptions& options, std::size_t text, Expr embedding)
      : p_(parameters),
        b_(parameters.builder()),
        o_(options),
        text_(text),
        source_(embedding.type().domain) {}

  Expr build(const std::string& prefix, Expr embedding) {
    const bool alternate = o_.enc_type == "alternating";
    const bool uni = o_.enc_type == "bi-unidirectional";
    const std::int64_t depth = uni ? 1 : o_.enc_depth;
    Expr x = concat({stack(prefix + "_bi", embedding, depth, false, alternate),
                     stack(prefix + "_bi_r", embedding, depth, true, alternate)});
    if (!uni) return x;
    for (std::int64_t i = 2; i <= o_.enc_depth; ++i) {
      std::vector<std::string> cells;
      for (std::int64_t j = 1; j <= o_.enc_cell_depth; ++j)
        cells.push_back(fmt::format("{}_l{}_cell{}", prefix, i, j));
      const Expr output = layer(cells, x, false);
      // Layer 2 is the first layer of a stack of its own, and so has no skip connection.
      x = o_.skip && i > 2 ? output + x : output;
    }
    return x;
  }

 private:
  /// One recurrent layer over the source positions; its cells are stacked at each position.
  Expr layer(const std::vector<std::string>& cells, Expr input, bool reversed) {
    const std::string name = numbered(cells.front(), text_);
    const DomainId scan = b_.graph().add_scan(name, source_, reversed);
    const CarriedState state(b_, o_.enc_cell, b_.constant(0, {o_.dim_rnn}), scan, name);
    Expr x = broadcast(input, scan);
    CellState s = state.in(scan);
    for (const std::string& cell : cells) {
      s = recurrent_cell(
          p_, cell, x, s,
          {.type = o_.enc_cell,
           .size = o_.dim_rnn,
           .layer_normalization = o_.layer_normalization,
           .nematus_bias = x.valid() ? NematusBias::input : NematusBias::after_norm});
      x = Expr{};
    }
    state.next(s);
    return collect(s.output);
  }

  std::vector<std::string> cell_names(const std::string& layer, std::int64_t number) const {
    std::vector<std::string> names;
    for (std::int64_t j = 1; j <= o_.enc_cell_depth; ++j)
      names.push_back(number == 1 && j == 1 ? layer : fmt::format("{}_cell{}", layer, j));
    return names;
  }

  /// `depth` layers. With `skip`, each layer but the first adds its input to its output.
  Expr stack(const std::string& prefix, Expr x, std::int64_t depth, bool first_reversed,
             bool alternate) {
    bool reversed = first_reversed;
    for (std::int64_t i = 1; i <= depth; ++i) {
      const std::string name = i == 1 ? prefix : fmt::format("{}_l{}", prefix, i);
      const Expr output = layer(cell_names(name, i), x, reversed);
      x = o_.skip && i > 1 ? output + x : output;
      if (alternate) reversed = !reversed;
    }
    return x;
  }

  Parameters& p_;
  Builder& b_;
  const MarianOptions& o_;
  std::size_t text_;
  DomainId source_;
};

class S2sDecoder {
 public:
  S2sDecoder(Parameters& parameters, const MarianOptions& options, Vocabularies& vocabularies,
             const std::vector<Expr>& contexts)
      : p_(parameters),
        b_(parameters.builder()),
        o_(options),
        vocabularies_(vocabularies),
        d_(vocabularies.domains()),
        contexts_(contexts) {}

  void build(Expr embedding) {
    const Expr start = start_state();
    const CarriedState base_state = layer_state(start, 1);
    const auto [s, attended] = base_layer(embedding, base_state.in(d_.hypothesis));
    base_state.next(s);
    Expr top = s.output;
    for (std::int64_t l = 2; l <= o_.dec_depth; ++l) {
      const CarriedState state = layer_state(start, l);
      const CellState output = high_layer(l, top, state.in(d_.hypothesis));
      state.next(output);
      top = o_.skip ? output.output + top : output.output;
    }
    std::vector<Expr> inputs = {embedding, top};
    if (attended.valid()) inputs.push_back(attended);
    b_.output("logits", vocabularies_.logits(deep_output(inputs)).named("logits"));
  }

 private:
  /// How attention, start state and deep output are normalized, which depends on the model's type.
  RnnNorm norm() const {
    if (!o_.layer_normalization) return RnnNorm::none;
    return o_.type == "nematus" ? RnnNorm::nematus : RnnNorm::joint;
  }

  /// The sum of in · W + b over several inputs, each with the norm of the model's type: Marian's
  /// parameter is `name`_gamma, Nematus's are `name`_ln_s and `name`_ln_b. Of several inputs the
  /// parameters are numbered.
  Expr sum_of_affine(const std::string& name, const std::vector<Expr>& inputs, std::int64_t out) {
    Expr sum;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::string number = inputs.size() == 1 ? "" : std::to_string(i);
      const Expr product = dot(inputs[i], p_.matrix(name + "_W" + number, inputs[i].width(), out));
      const Expr bias = p_.vector(name + "_b" + number, out);
      Expr term = product;
      if (norm() == RnnNorm::joint)
        term = layer_norm(product, p_.vector(name + "_gamma" + number, out), bias, kRnnNormEpsilon);
      else
        term = product + bias;
      if (norm() == RnnNorm::nematus)
        term = layer_norm(term, p_.vector(name + "_ln_s" + number, out),
                          p_.vector(name + "_ln_b" + number, out), 1e-5);
      sum = i == 0 ? term : sum + term;
    }
    return sum;
  }

  Expr start_state() {
    if (contexts_.empty()) return b_.constant(0, {o_.dim_rnn});
    const Builder::Scope scope(b_, "decoder_ff_state");
    std::vector<Expr> means;
    for (const Expr& context : contexts_) means.push_back(mean_rows(context));
    return tanh(sum_of_affine("decoder_ff_state", means, o_.dim_rnn));
  }

  /// What the hypotheses attend to in all texts, side by side; invalid in a language model.
  Expr attended(Expr query) {
    if (contexts_.empty()) return {};
    std::vector<Expr> mixtures;
    for (std::size_t i = 0; i < contexts_.size(); ++i) {
      const std::string name =
          contexts_.size() == 1 ? "decoder" : fmt::format("decoder_att{}", i + 1);
      const Expr weights =
          additive_attention(p_, name, contexts_[i], query, d_.texts[i].hypothesis, norm());
      if (i == 0) b_.output("alignment", weights.named("alignment"));
      mixtures.push_back(mix(weights, contexts_[i]).named(numbered("attended", i)));
    }
    return mixtures.size() == 1 ? mixtures.front() : concat(mixtures);
  }

  struct Attended {
    CellState state;
    Expr context;
  };

  /// The conditional cell: a cell on the last word, attention queried by its state, a cell on the
  /// attended contexts, then transitions.
  Attended base_layer(Expr embedding, const CellState& state) {
    const CellOptions first{
        .type = o_.dec_cell, .size = o_.dim_rnn, .layer_normalization = o_.layer_normalization};
    CellOptions later = first;
    later.bias_in_reset = true;
    later.nematus_bias = NematusBias::state;

    CellState s = recurrent_cell(p_, "decoder_cell1", embedding, state, first);
    const Expr context = attended(s.output);
    s = recurrent_cell(p_, "decoder_cell2", context, s, later);
    for (std::int64_t j = 3; j <= o_.dec_cell_base_depth; ++j)
      s = recurrent_cell(p_, fmt::format("decoder_cell{}", j), {}, s, later);
    return {s, context};
  }

  CellState high_layer(std::int64_t number, Expr x, CellState s) {
    for (std::int64_t j = 1; j <= o_.dec_cell_high_depth; ++j) {
      const NematusBias bias = j == 1 ? NematusBias::input : NematusBias::after_norm;
      s = recurrent_cell(p_, fmt::format("decoder_l{}_cell{}", number, j), j == 1 ? x : Expr{}, s,
                         {.type = o_.dec_cell,
                          .size = o_.dim_rnn,
                          .layer_normalization = o_.layer_normalization,
                          .bias_in_reset = o_.nematus_high_state_bias,
                          .nematus_bias = o_.nematus_high_state_bias ? NematusBias::state : bias});
    }
    return s;
  }

  CarriedState layer_state(Expr start, std::int64_t number) {
    return {b_, o_.dec_cell, start, d_.parent, fmt::format("decoder_l{}", number)};
  }

  /// tanh of the sum of an affine term for each of the last word, the state and what it attends to.
  Expr deep_output(const std::vector<Expr>& inputs) {
    const Builder::Scope scope(b_, "decoder_ff_logit_l1");
    return tanh(sum_of_affine("decoder_ff_logit_l1", inputs, o_.dim_emb));
  }

  Parameters& p_;
  Builder& b_;
  const MarianOptions& o_;
  Vocabularies& vocabularies_;
  const Seq2SeqDomains& d_;
  const std::vector<Expr>& contexts_;
};

}  // namespace

void check_s2s(const MarianOptions& o) {
  if (o.dec_cell_base_depth < 2)
    throw Error(
        fmt::format("dec-cell-base-depth {} is not supported in a recurrent model; it can "
                    "be 2 or more",
                    o.dec_cell_base_depth));
  // Marian has no alternating encoder and no higher transitions in this type; Nematus itself has.
  if (o.type == "nematus" && (o.enc_type == "bi-unidirectional" || o.enc_cell != "gru-nematus" ||
                              o.dec_cell != "gru-nematus"))
    throw Error(
        fmt::format("a model of type nematus has enc-type bidirectional or alternating and cells "
                    "gru-nematus, but this one has {}, {} and {}",
                    o.enc_type, o.enc_cell, o.dec_cell));
  if (o.type == "amun" && (o.enc_depth != 1 || o.dec_depth != 1 || o.enc_cell_depth != 1 ||
                           o.dec_cell_base_depth != 2 || o.skip))
    throw Error("a model of type amun has one layer of one cell on each side, without skip");
}

Expr s2s_encoder(Parameters& parameters, const MarianOptions& options, const std::string& prefix,
                 std::size_t text, Expr embedding) {
  return S2sEncoder(parameters, options, text, embedding).build(prefix, embedding);
}

void s2s_decoder(Parameters& parameters, const MarianOptions& options, Vocabularies& vocabularies,
                 const std::vector<Expr>& contexts) {
  S2sDecoder(parameters, options, vocabularies, contexts).build(vocabularies.target_embedding());
}

}  // namespace fuselage
