#include "models/architectures/transformer.h"

#include <fmt/format.h>

#include <cmath>

#include "fuselage/base/error.h"
#include "models/architectures/attention.h"
#include "models/architectures/cells.h"

namespace fuselage {
namespace {

constexpr double kNormEpsilon = 1e-6;

/// The layers that encoder and decoder have in common.
class Layers {
 public:
  Layers(Parameters& parameters, const MarianOptions& options)
      : p_(parameters),
        b_(parameters.builder()),
        o_(options),
        size_(options.dim_emb),
        attends_before_norm_(options.version_major == 0 ||
                             (options.version_major == 1 && options.version_minor <= 10)) {}

 protected:
  /// x W + b.
  Expr affine(const std::string& name, const std::string& suffix, Expr x, std::int64_t out) {
    const Expr product = dot(x, p_.matrix(name + "_W" + suffix, x.width(), out));
    return product + p_.vector(name + "_b" + suffix, out);
  }

  /// Layer normalization, or division by the root mean square.
  Expr norm(char operation, const std::string& name, const std::string& suffix, Expr x) {
    if (operation == 'r')
      return rms_norm(x, p_.vector(name + "_rms_scale" + suffix, size_), kNormEpsilon);
    const Expr gain = p_.vector(name + "_ln_scale" + suffix, size_);
    return layer_norm(x, gain, p_.vector(name + "_ln_bias" + suffix, size_), kNormEpsilon);
  }

  /// σ(input W + b) chooses between x and input (Srivastava et al. 2015, equation 3).
  Expr highway(const std::string& name, Expr x, Expr input) {
    const Expr gate = sigmoid(affine(name, "h", input, size_));
    return gate * x + (1 - gate) * input;
  }

  /// Applies the operations of an option, letter by letter; 'd', dropout, is the identity. After a
  /// sub-layer, `input` is its input and x its result; before it, norms have the suffix "_pre".
  Expr apply(const std::string& operations, const std::string& name, const std::string& suffix,
             Expr x, Expr input = {}) {
    for (const char operation : operations) {
      if (operation == 'a') x = x + input;
      if (operation == 'n' || operation == 'r') x = norm(operation, name, suffix, x);
      if (operation == 'h') x = highway(name, x, input);
    }
    return x;
  }

  Expr before(const std::string& name, Expr x) {
    return apply(o_.transformer_preprocess, name, "_pre", x);
  }

  Expr after(const std::string& name, Expr x, Expr input) {
    return apply(o_.transformer_postprocess, name, "", x, input);
  }

  static Expr activation(const std::string& name, Expr x) {
    if (name == "relu") return relu(x);
    if (name == "swish") return swish(x);
    if (name == "gelu") return gelu(x);
    if (name == "sigmoid") return sigmoid(x);
    check(name.empty(), "an activation that options can have");
    return x;
  }

  /// Embedding plus position signal (Vaswani et al. 2017, sections 3.4 and 3.5), or plus trained
  /// rows of a table, of which the last one stands for all later positions.
  Expr with_positions(Expr embedding) {
    const DomainId domain = embedding.type().domain;
    Graph& graph = b_.graph();
    if (o_.transformer_disable_position_embeddings) return embedding;
    if (!p_.has("Wpos"))
      return std::sqrt(static_cast<double>(size_)) * embedding +
             sinusoid(b_.position(domain), size_);
    DomainId positions = graph.find_domain("positions");
    if (!positions.valid()) positions = graph.add_vocabulary("positions", p_.rows("Wpos"));
    const MapId map =
        graph.add_position_map(graph.domain(domain).name + ".position", domain, positions);
    return embedding + select_rows(p_.table("Wpos", positions, size_), {map});
  }

  /// Multi-head attention of queries x to the rows of `memory` (Vaswani et al. 2017, section 3.2).
  Attended attention(const std::string& name, Expr x, Expr memory, DomainId pairs) {
    const std::int64_t heads = o_.transformer_heads;
    const Expr q = affine(name, "q", x, size_);
    const Expr k = affine(name, "k", memory, size_);
    const Expr v = affine(name, "v", memory, size_);
    const Attended attended =
        attend(left(q, pairs), right(k, pairs), v, heads, scale_of_scores(size_ / heads));
    return {projected(name, attended.output), attended.weights};
  }

  Expr projected(const std::string& name, Expr x) {
    return o_.transformer_no_projection ? x : affine(name, "o", x, size_);
  }

  /// Layers 1 … depth-1 of a feed-forward network.
  Expr hidden_layers(const std::string& name, Expr x, std::int64_t width, std::int64_t depth,
                     const std::string& function) {
    for (std::int64_t j = 1; j < depth; ++j)
      x = activation(function, affine(name, std::to_string(j), x, width));
    return x;
  }

  Expr feed_forward(const std::string& name, Expr x, std::int64_t width, std::int64_t depth) {
    const Builder::Scope scope(b_, name);
    const Expr h =
        hidden_layers(name, before(name + "_ffn", x), width, depth, o_.transformer_ffn_activation);
    return after(name + "_ffn", affine(name, std::to_string(depth), h, size_), x);
  }

  Parameters& p_;
  Builder& b_;
  const MarianOptions& o_;
  std::int64_t size_;  ///< dim-emb
  /// Whether keys and values of self-attention are computed from the input of the norm that
  /// precedes the sub-layer, as in Marian up to 1.10. A model is run as it was trained.
  bool attends_before_norm_;
};

class TransformerEncoder : Layers {
 public:
  using Layers::Layers;

  Expr build(const std::string& prefix, std::size_t text, Expr embedding) {
    const DomainId source = embedding.type().domain;
    pairs_ = b_.graph().add_pairs(numbered("source_pairs", text), source, source);
    const Expr input = with_positions(embedding);
    Expr x = apply(o_.transformer_postprocess_emb, prefix + "_emb", "_pre", input);
    for (std::int64_t i = 1; i <= o_.enc_depth; ++i) {
      const std::string layer = fmt::format("{}_l{}", prefix, i);
      x = self_attention(layer + "_self", x);
      x = feed_forward(layer + "_ffn", x, o_.transformer_dim_ffn, o_.transformer_ffn_depth);
    }
    return apply(o_.transformer_postprocess_top, prefix + "_top", "", x, input);
  }

 private:
  Expr self_attention(const std::string& name, Expr x) {
    const Builder::Scope scope(b_, name);
    const Expr h = before(name + "_Wo", x);
    const Expr memory = attends_before_norm_ ? x : h;
    return after(name + "_Wo", attention(name, h, memory, pairs_).output, x);
  }

  DomainId pairs_;
};

class TransformerDecoder : Layers {
 public:
  TransformerDecoder(Parameters& parameters, const MarianOptions& options,
                     Vocabularies& vocabularies, const std::vector<Expr>& contexts)
      : Layers(parameters, options),
        vocabularies_(vocabularies),
        d_(vocabularies.domains()),
        contexts_(contexts) {}

  void build(Expr embedding) {
    if (o_.transformer_decoder_autoreg == "self-attention") {
      prefix_ = b_.graph().add_prefix("prefix", d_.hypothesis);
      hypothesis_prefix_ = b_.graph().add_pairs("hyp_prefix", d_.hypothesis, prefix_);
    }
    const auto own_or = [](std::int64_t own, std::int64_t other) { return own > 0 ? own : other; };
    const std::int64_t width = own_or(o_.transformer_decoder_dim_ffn, o_.transformer_dim_ffn);
    const std::int64_t depth = own_or(o_.transformer_decoder_ffn_depth, o_.transformer_ffn_depth);
    alignment_layer_ = own_or(o_.transformer_guided_alignment_layer, o_.dec_depth);
    const Expr input = with_positions(embedding);
    Expr x = apply(o_.transformer_postprocess_emb, "decoder_emb", "_pre", input);
    for (std::int64_t i = 1; i <= o_.dec_depth; ++i) {
      const std::string layer = fmt::format("decoder_l{}", parameters_of_layer(i));
      x = autoregression(layer, x, i);
      for (std::size_t text = 0; text < contexts_.size(); ++text) {
        const std::string name =
            layer + (text == 0 ? "_context" : fmt::format("_context_enc{}", text + 1));
        x = o_.transformer_pool ? pool(name, x, contexts_[text])
                                : cross_attention(name, x, text, i);
      }
      x = feed_forward(layer + "_ffn", x, width, depth);
    }
    const Expr top = apply(o_.transformer_postprocess_top, "decoder_top", "", x, input);
    b_.output("logits", vocabularies_.logits(top).named("logits"));
  }

 private:
  /// The sub-layer of layer `number` that sees earlier words. The number names states, since layers
  /// with tied parameters have separate states.
  Expr autoregression(const std::string& layer, Expr x, std::int64_t number) {
    const std::string state = fmt::format("decoder_l{}", number);
    const std::string& kind = o_.transformer_decoder_autoreg;
    if (kind == "rnn") return rnn(layer + "_rnn", x, state);
    if (kind == "average-attention") return average_attention(layer + "_aan", x, state);
    return self_attention(layer + "_self", x);
  }

  Expr self_attention(const std::string& name, Expr x) {
    const Builder::Scope scope(b_, name);
    const Expr h = before(name + "_Wo", x);
    const Expr memory = history(attends_before_norm_ ? x : h, prefix_);
    return after(name + "_Wo", attention(name, h, memory, hypothesis_prefix_).output, x);
  }

  Expr rnn(const std::string& name, Expr x, const std::string& state_name) {
    const CarriedState state(b_, o_.dec_cell, b_.constant(0, {size_}), d_.parent, state_name);
    const CellState s = recurrent_cell(
        p_, name, before(name, x), state.in(d_.hypothesis),
        {.type = o_.dec_cell, .size = size_, .layer_normalization = o_.layer_normalization});
    state.next(s);
    const Builder::Scope scope(b_, name);
    const Expr h = o_.transformer_rnn_projection ? affine(name, "o", s.output, size_) : s.output;
    return after(name + "_ffn", h, x);
  }

  /// A feed-forward network of the mean of the inputs up to now (Zhang et al. 2018). The last layer
  /// only restores the size, and is left out where that is not needed.
  Expr average_attention(const std::string& name, Expr x, const std::string& state_name) {
    const Builder::Scope scope(b_, name);
    const Expr mean = b_.state(b_.constant(0, {size_}), d_.parent).named(state_name + ".mean");
    const Expr count = cast(b_.position(d_.hypothesis), DType::f32);
    Expr y = (broadcast(mean, d_.hypothesis) * count + x) / (count + 1);
    b_.next(mean, y);
    const std::int64_t depth = o_.transformer_aan_depth;
    y = hidden_layers(name, before(name + "_ffn", y), o_.transformer_dim_aan, depth,
                      o_.transformer_aan_activation);
    if (y.width() != size_) y = affine(name, std::to_string(depth), y, size_);
    if (!o_.transformer_aan_nogate) {
      const Expr gated_input = sigmoid(affine(name, "i", x, size_)) * x;
      y = gated_input + sigmoid(affine(name, "f", y, size_)) * y;
    }
    return after(name + "_ffn", y, x);
  }

  Expr cross_attention(const std::string& name, Expr x, std::size_t text, std::int64_t layer) {
    const Builder::Scope scope(b_, name);
    const auto [output, weights] =
        attention(name, before(name + "_Wo", x), contexts_[text], d_.texts[text].hypothesis);
    if (text == 0 && layer == alignment_layer_)
      b_.output("alignment", slice(weights, 0, 1).named("alignment"));
    return after(name + "_Wo", output, x);
  }

  /// In the place of attention: the encoder's result for the first word.
  Expr pool(const std::string& name, Expr x, Expr context) {
    const Builder::Scope scope(b_, name);
    const Expr first = equal(cast(b_.position(context.type().domain), DType::f32), 0);
    const Expr pooled = broadcast(projected(name, sum_rows(first * context)), d_.hypothesis);
    return after(name + "_Wo", pooled, x);
  }

  std::int64_t parameters_of_layer(std::int64_t number) const {
    if (o_.transformer_tied_layers.empty()) return number;
    return o_.transformer_tied_layers[static_cast<std::size_t>(number - 1)];
  }

  Vocabularies& vocabularies_;
  const Seq2SeqDomains& d_;
  const std::vector<Expr>& contexts_;
  std::int64_t alignment_layer_ = 0;
  DomainId prefix_, hypothesis_prefix_;  // with self-attention only
};

}  // namespace

void check_transformer(const MarianOptions& o) {
  if (o.dim_emb % o.transformer_heads != 0)
    throw Error(fmt::format("dim-emb {} is not a multiple of transformer-heads {}", o.dim_emb,
                            o.transformer_heads));
  if (o.dim_emb < 4 || o.dim_emb % 2 != 0)
    throw Error(fmt::format(
        "dim-emb {} is not supported in a transformer; it must be even and at least 4", o.dim_emb));
  if (o.transformer_guided_alignment_layer > o.dec_depth)
    throw Error(fmt::format("transformer-guided-alignment-layer {} does not exist: dec-depth is {}",
                            o.transformer_guided_alignment_layer, o.dec_depth));
  const auto tied = static_cast<std::int64_t>(o.transformer_tied_layers.size());
  if (tied != 0 && tied != o.dec_depth)
    throw Error(fmt::format("transformer-tied-layers lists {} layers, but dec-depth is {}", tied,
                            o.dec_depth));
}

Expr transformer_encoder(Parameters& parameters, const MarianOptions& options,
                         const std::string& prefix, std::size_t text, Expr embedding) {
  return TransformerEncoder(parameters, options).build(prefix, text, embedding);
}

void transformer_decoder(Parameters& parameters, const MarianOptions& options,
                         Vocabularies& vocabularies, const std::vector<Expr>& contexts) {
  TransformerDecoder(parameters, options, vocabularies, contexts)
      .build(vocabularies.target_embedding());
}

}  // namespace fuselage
