#include "models/architectures/transformer.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "models/architectures/gru.h"
#include "models/architectures/seq2seq.h"

namespace fuselage {
namespace {

constexpr double kNormEpsilon = 1e-6;

/// Whether keys and values of self-attention are computed from the input of the norm that precedes
/// the sub-layer, as in Marian up to 1.10. A model is run as it was trained.
bool attends_before_norm(const MarianOptions& o) {
  return o.version_major >= 0 && std::pair(o.version_major, o.version_minor) <= std::pair(1, 10);
}

class Transformer {
 public:
  Transformer(Parameters& parameters, const MarianOptions& options)
      : p_(parameters),
        b_(parameters.builder()),
        o_(options),
        vocabularies_(parameters, options, "decoder_ff_logit_out"),
        d_(vocabularies_.domains()),
        size_(options.dim_emb),
        attends_before_norm_(attends_before_norm(options)) {}

  void build() {
    const Expr context = encoder(vocabularies_.source_embedding().named("source_embedding"));
    decoder(context.named("context"), vocabularies_.target_embedding().named("target_embedding"));
  }

 private:
  // --- Building blocks ---

  /// x W + b.
  Expr affine(const std::string& name, const std::string& suffix, Expr x, std::int64_t out) {
    const Expr product = dot(x, p_.matrix(name + "_W" + suffix, x.width(), out));
    return product + p_.vector(name + "_b" + suffix, out);
  }

  Expr norm(const std::string& name, const std::string& suffix, Expr x) {
    const Expr gain = p_.vector(name + "_ln_scale" + suffix, size_);
    const Expr bias = p_.vector(name + "_ln_bias" + suffix, size_);
    return layer_norm(x, gain, bias, kNormEpsilon);
  }

  Expr root_mean_square_norm(const std::string& name, const std::string& suffix, Expr x) {
    return rms_norm(x, p_.vector(name + "_rms_scale" + suffix, size_), kNormEpsilon);
  }

  /// σ(input W + b) chooses between x and input (Srivastava et al. 2015, equation 3).
  Expr highway(const std::string& name, Expr x, Expr input) {
    const Expr gate = sigmoid(affine(name, "h", input, size_));
    return gate * x + (1 - gate) * input;
  }

  /// Applies the operations of an option, letter by letter; 'd', dropout, is the identity.
  Expr preprocess(const std::string& operations, const std::string& name, Expr x) {
    for (const char operation : operations) {
      if (operation == 'n') x = norm(name, "_pre", x);
      if (operation == 'r') x = root_mean_square_norm(name, "_pre", x);
    }
    return x;
  }

  /// As preprocess; `input` is the input of the sub-layer whose result is x.
  Expr postprocess(const std::string& operations, const std::string& name, Expr x, Expr input) {
    for (const char operation : operations) {
      if (operation == 'a') x = x + input;
      if (operation == 'n') x = norm(name, "", x);
      if (operation == 'r') x = root_mean_square_norm(name, "", x);
      if (operation == 'h') x = highway(name, x, input);
    }
    return x;
  }

  Expr before(const std::string& name, Expr x) {
    return preprocess(o_.transformer_preprocess, name, x);
  }

  Expr after(const std::string& name, Expr x, Expr input) {
    return postprocess(o_.transformer_postprocess, name, x, input);
  }

  Expr activation(Expr x) const {
    const std::string& name = o_.transformer_ffn_activation;
    if (name == "relu") return relu(x);
    if (name == "swish") return swish(x);
    if (name == "gelu") return gelu(x);
    if (name == "sigmoid") return sigmoid(x);
    if (name.empty()) return x;
    throw Error(fmt::format("transformer-ffn-activation {} is not supported", in_quotes(name)));
  }

  /// Embedding plus position signal (Vaswani et al. 2017, sections 3.4 and 3.5).
  Expr with_positions(Expr embedding, DomainId domain) {
    return std::sqrt(static_cast<double>(size_)) * embedding + sinusoid(b_.position(domain), size_);
  }

  struct Attended {
    Expr output, weights;
  };

  /// Multi-head attention of queries x to the rows of `memory` (Vaswani et al. 2017, section 3.2).
  Attended attention(const std::string& name, Expr x, Expr memory, DomainId pairs) {
    const std::int64_t heads = o_.transformer_heads;
    const std::int64_t head_width = size_ / heads;
    const double scale = 1 / std::sqrt(static_cast<double>(head_width));
    const Expr q = affine(name, "q", x, size_);
    const Expr k = affine(name, "k", memory, size_);
    const Expr v = affine(name, "v", memory, size_);
    const Expr weights =
        softmax_over_right(head_dot(left(q, pairs), right(k, pairs), heads, scale));
    const Expr mixed = mix(weights, v);
    return {o_.transformer_no_projection ? mixed : affine(name, "o", mixed, size_), weights};
  }

  Expr feed_forward(const std::string& name, Expr x, std::int64_t width, std::int64_t depth) {
    const Builder::Scope scope(b_, name);
    Expr h = before(name + "_ffn", x);
    for (std::int64_t j = 1; j < depth; ++j)
      h = activation(affine(name, std::to_string(j), h, width));
    return after(name + "_ffn", affine(name, std::to_string(depth), h, size_), x);
  }

  // --- Encoder ---

  Expr encoder_self_attention(const std::string& name, Expr x) {
    const Builder::Scope scope(b_, name);
    const Expr h = before(name + "_Wo", x);
    const Expr memory = attends_before_norm_ ? x : h;
    return after(name + "_Wo", attention(name, h, memory, source_pairs_).output, x);
  }

  Expr encoder(Expr embedding) {
    source_pairs_ = b_.graph().add_pairs("source_pairs", d_.source, d_.source);
    const Expr input = with_positions(embedding, d_.source);
    Expr x = preprocess(o_.transformer_postprocess_emb, "encoder_emb", input);
    for (std::int64_t i = 1; i <= o_.enc_depth; ++i) {
      const std::string layer = fmt::format("encoder_l{}", i);
      x = encoder_self_attention(layer + "_self", x);
      x = feed_forward(layer + "_ffn", x, o_.transformer_dim_ffn, o_.transformer_ffn_depth);
    }
    return postprocess(o_.transformer_postprocess_top, "encoder_top", x, input);
  }

  // --- Decoder ---

  Expr decoder_self_attention(const std::string& name, Expr x) {
    const Builder::Scope scope(b_, name);
    const Expr h = before(name + "_Wo", x);
    const Expr memory = history(attends_before_norm_ ? x : h, prefix_);
    return after(name + "_Wo", attention(name, h, memory, hypothesis_prefix_).output, x);
  }

  /// Simpler simple recurrent unit (Kim et al. 2019).
  Expr ssru(const std::string& name, Expr x, Expr state) {
    Expr candidate = dot(x, p_.matrix(name + "_W", size_, size_));
    Expr gate = dot(x, p_.matrix(name + "_Wf", size_, size_));
    const Expr bias = p_.vector(name + "_bf", size_);
    if (o_.layer_normalization) {
      candidate = layer_norm(candidate, p_.vector(name + "_gamma", size_), {}, kRnnNormEpsilon);
      gate = layer_norm(gate, p_.vector(name + "_gammaf", size_), bias, kRnnNormEpsilon);
    } else {
      gate = gate + bias;
    }
    const Expr f = sigmoid(gate);
    const Expr c = f * broadcast(state, d_.hypothesis) + (1 - f) * candidate;
    b_.next(state, c);
    return relu(c);
  }

  /// `number` names the state, since layers with tied parameters have separate states.
  Expr decoder_rnn(const std::string& name, Expr x, std::int64_t number) {
    const Builder::Scope scope(b_, name);
    const Expr state = b_.state(b_.constant(0, {size_}), d_.parent)
                           .named(fmt::format("decoder_l{}.state", number));
    Expr h = ssru(name, before(name, x), state);
    if (o_.transformer_rnn_projection) h = affine(name, "o", h, size_);
    return after(name + "_ffn", h, x);
  }

  Attended cross_attention(const std::string& name, Expr x, Expr context) {
    const Builder::Scope scope(b_, name);
    const auto [output, weights] =
        attention(name, before(name + "_Wo", x), context, d_.hypothesis_source);
    return {after(name + "_Wo", output, x), weights};
  }

  void decoder(Expr context, Expr embedding) {
    const bool recurrent = o_.transformer_decoder_autoreg == "rnn";
    if (!recurrent) {
      prefix_ = b_.graph().add_prefix("prefix", d_.hypothesis);
      hypothesis_prefix_ = b_.graph().add_pairs("hyp_prefix", d_.hypothesis, prefix_);
    }
    const std::int64_t width = o_.transformer_decoder_dim_ffn > 0 ? o_.transformer_decoder_dim_ffn
                                                                  : o_.transformer_dim_ffn;
    const std::int64_t depth = o_.transformer_decoder_ffn_depth > 0
                                   ? o_.transformer_decoder_ffn_depth
                                   : o_.transformer_ffn_depth;
    const std::int64_t alignment_layer = o_.transformer_guided_alignment_layer > 0
                                             ? o_.transformer_guided_alignment_layer
                                             : o_.dec_depth;

    const Expr input = with_positions(embedding, d_.hypothesis);
    Expr x = preprocess(o_.transformer_postprocess_emb, "decoder_emb", input);
    for (std::int64_t i = 1; i <= o_.dec_depth; ++i) {
      const std::string layer = fmt::format("decoder_l{}", parameters_of_layer(i));
      x = recurrent ? decoder_rnn(layer + "_rnn", x, i)
                    : decoder_self_attention(layer + "_self", x);
      const auto [output, weights] = cross_attention(layer + "_context", x, context);
      if (i == alignment_layer) b_.output("alignment", slice(weights, 0, 1).named("alignment"));
      x = feed_forward(layer + "_ffn", output, width, depth);
    }
    const Expr top = postprocess(o_.transformer_postprocess_top, "decoder_top", x, input);
    b_.output("logits", vocabularies_.logits(top).named("logits"));
  }

  std::int64_t parameters_of_layer(std::int64_t number) const {
    if (o_.transformer_tied_layers.empty()) return number;
    return o_.transformer_tied_layers[static_cast<std::size_t>(number - 1)];
  }

  Parameters& p_;
  Builder& b_;
  const MarianOptions& o_;
  Vocabularies vocabularies_;
  const Seq2SeqDomains& d_;
  std::int64_t size_;
  bool attends_before_norm_;
  DomainId source_pairs_;
  DomainId prefix_, hypothesis_prefix_;  // with a self-attention decoder only
};

void check_operations(std::string_view key, const std::string& operations,
                      std::string_view letters) {
  const std::size_t wrong = operations.find_first_not_of(letters);
  if (wrong == std::string::npos) return;
  throw Error(fmt::format("{} {} contains {}; in a transformer it can have the letters {}", key,
                          in_quotes(operations), in_quotes(operations.substr(wrong, 1)),
                          in_quotes(letters)));
}

void refuse_unsupported(const MarianOptions& o, const Parameters& parameters) {
  check_operations("transformer-preprocess", o.transformer_preprocess, "dnr");
  check_operations("transformer-postprocess", o.transformer_postprocess, "danrh");
  check_operations("transformer-postprocess-emb", o.transformer_postprocess_emb, "dnr");
  check_operations("transformer-postprocess-top", o.transformer_postprocess_top, "danrh");

  const std::string& autoregression = o.transformer_decoder_autoreg;
  if (autoregression != "self-attention" && autoregression != "rnn")
    throw Error(fmt::format(
        "transformer-decoder-autoreg {} is not supported; it can be self-attention or rnn",
        in_quotes(autoregression)));
  if (autoregression == "rnn" && o.dec_cell != "ssru")
    throw Error(
        fmt::format("dec-cell {} is not supported in a transformer with an rnn; it can be ssru",
                    in_quotes(o.dec_cell)));
  if (o.transformer_pool) throw Error("transformer-pool is not supported; it must be false");
  if (o.transformer_train_position_embeddings || parameters.has("Wpos"))
    throw Error(
        "trained positions (transformer-train-position-embeddings, parameter 'Wpos') are not "
        "supported; only sinusoids are");
  if (o.transformer_disable_position_embeddings)
    throw Error("transformer-disable-position-embeddings is not supported; it must be false");

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

}  // namespace

void build_transformer(Parameters& parameters, const MarianOptions& options) {
  refuse_unsupported(options, parameters);
  Transformer(parameters, options).build();
}

}  // namespace fuselage
