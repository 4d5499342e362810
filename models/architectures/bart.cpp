#include "models/architectures/bart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "fuselage/base/error.h"
#include "models/architectures/activation.h"
#include "models/architectures/alignment_heads.h"
#include "models/architectures/attention.h"
#include "models/architectures/embedding_tables.h"
#include "models/architectures/seq2seq.h"

namespace fuselage {
namespace {

constexpr double kBartEpsilon = 1e-5;

class Bart {
 public:
  Bart(Parameters& parameters, const ModelOptions& options, const BartClass& kind)
      : p_(parameters),
        b_(parameters.builder()),
        o_(options),
        kind_(kind),
        tables_(parameters, "model.", options.integer("vocab_size", 0),
                options.integer("decoder_vocab_size", options.integer("vocab_size", 0))),
        d_(tables_.declare()),
        size_(size_option(options, "d_model", 1024)),
        activation_(options.text("activation_function", "gelu")),
        scale_(options.flag("scale_embedding") ? std::sqrt(static_cast<double>(size_)) : 1) {}

  void build() {
    const Expr context = encode(tables_.source_embedding(size_)).named("context");
    const Expr top = decode(tables_.target_embedding(size_), context);
    Expr logits = tables_.logits(top);
    if (p_.has("final_logits_bias"))
      logits = logits + p_.vector("final_logits_bias", logits.width());
    b_.output("logits", logits.named("logits"));
  }

 private:
  std::int64_t layers(const char* side) const {
    return size_option(o_, fmt::format("{}_layers", side), 12, kMostLayers);
  }

  std::int64_t hidden(const char* side) const {
    return size_option(o_, fmt::format("{}_ffn_dim", side), 4096);
  }

  std::int64_t heads(const char* side) const {
    const std::string name = fmt::format("{}_attention_heads", side);
    const std::int64_t heads = size_option(o_, name, 16, kMostLayers);
    if (size_ % heads != 0)
      throw Error(fmt::format("{}: option 'd_model' is {}, which is not a multiple of '{}', {}",
                              o_.where(), size_, name, heads));
    return heads;
  }

  /// x Wᵀ + b.
  Expr affine(const std::string& name, Expr x, std::int64_t out) {
    const Expr w = p_.transposed_matrix(name + ".weight", out, x.width());
    return dot_transposed(x, w) + p_.vector(name + ".bias", out);
  }

  Expr norm(const std::string& name, Expr x) {
    const Expr gain = p_.vector(name + ".weight", size_);
    return layer_norm(x, gain, p_.vector(name + ".bias", size_), kBartEpsilon);
  }

  /// Words as a side reads them: scaled embeddings plus positions.
  Expr embed(const std::string& side, Expr embedding) {
    const DomainId words = embedding.type().domain;
    const std::string table = side + ".embed_positions.weight";
    const DomainId positions = b_.graph().add_vocabulary(
        b_.graph().domain(words).name + "_positions",
        p_.rows(table, size_option(o_, "max_position_embeddings", 1024) + kind_.position_offset));
    const MapId position = b_.graph().add_position_map(b_.graph().domain(words).name + ".position",
                                                       words, positions, kind_.position_offset);
    const Expr x = scale_ * embedding + select_rows(p_.table(table, positions, size_), {position});
    return kind_.norm_of_embeddings ? norm(side + ".layernorm_embedding", x) : x;
  }

  /// A sub-layer with its residual connection.
  template <typename SubLayer>
  Expr residual(const std::string& name, Expr x, const SubLayer& sub_layer) {
    if (kind_.norm_before) return x + sub_layer(norm(name, x));
    return norm(name, x + sub_layer(x));
  }

  /// Multi-head attention (Vaswani et al. 2017, section 3.2).
  Attended attention(const std::string& name, Expr x, Expr memory, DomainId pairs,
                     std::int64_t heads) {
    const Expr q = affine(name + ".q_proj", x, size_);
    const Expr k = affine(name + ".k_proj", memory, size_);
    const Expr v = affine(name + ".v_proj", memory, size_);
    const Attended attended =
        attend(left(q, pairs), right(k, pairs), v, heads, scale_of_scores(size_ / heads));
    return {affine(name + ".out_proj", attended.output, size_), attended.weights};
  }

  Expr feed_forward(const std::string& layer, Expr x, std::int64_t width) {
    return residual(layer + ".final_layer_norm", x, [&](Expr h) {
      return affine(layer + ".fc2", activation(activation_, affine(layer + ".fc1", h, width)),
                    size_);
    });
  }

  Expr encode(Expr embedding) {
    const std::string side = "model.encoder";
    const DomainId source = d_.texts[0].source;
    const DomainId pairs = b_.graph().add_pairs("source_pairs", source, source);
    const std::int64_t heads = this->heads("encoder"), layers = this->layers("encoder");
    Expr x = embed(side, embedding);
    for (std::int64_t i = 0; i < layers; ++i) {
      const std::string layer = fmt::format("{}.layers.{}", side, i);
      const Builder::Scope scope(b_, layer);
      x = residual(layer + ".self_attn_layer_norm", x, [&](Expr h) {
        return attention(layer + ".self_attn", h, h, pairs, heads).output;
      });
      x = feed_forward(layer, x, hidden("encoder"));
    }
    return kind_.norm_at_top ? norm(side + ".layer_norm", x) : x;
  }

  Expr decode(Expr embedding, Expr context) {
    const std::string side = "model.decoder";
    const DomainId prefix = b_.graph().add_prefix("prefix", d_.hypothesis);
    const DomainId pairs = b_.graph().add_pairs("hyp_prefix", d_.hypothesis, prefix);
    const std::int64_t heads = this->heads("decoder"), layers = this->layers("decoder");
    const AlignmentHeads aligned = alignment_heads(o_, layers, heads, usual_alignment(layers));
    Expr x = embed(side, embedding);
    for (std::int64_t i = 0; i < layers; ++i) {
      const std::string layer = fmt::format("{}.layers.{}", side, i);
      const Builder::Scope scope(b_, layer);
      x = residual(layer + ".self_attn_layer_norm", x, [&](Expr h) {
        return attention(layer + ".self_attn", h, history(h, prefix), pairs, heads).output;
      });
      x = residual(layer + ".encoder_attn_layer_norm", x, [&](Expr h) {
        const Attended attended =
            attention(layer + ".encoder_attn", h, context, d_.texts[0].hypothesis, heads);
        if (i == aligned.layer) add_alignment(b_, attended.weights, aligned);
        return attended.output;
      });
      x = feed_forward(layer, x, hidden("decoder"));
    }
    return kind_.norm_at_top ? norm(side + ".layer_norm", x) : x;
  }

  AlignmentHeads usual_alignment(std::int64_t layers) const {
    if (kind_.aligns_by_first_head) return {.layer = layers - 1, .heads = {0}};
    return {.layer = std::max<std::int64_t>(layers - 2, 0), .heads = {}};
  }

  Parameters& p_;
  Builder& b_;
  const ModelOptions& o_;
  const BartClass& kind_;
  EmbeddingTables tables_;
  Seq2SeqDomains d_;
  std::int64_t size_;  ///< d_model
  std::string activation_;
  double scale_;  ///< of embeddings
};

}  // namespace

std::span<const BartClass> bart_classes() {
  static const std::array<BartClass, 4> classes = {{
      {.name = "MarianMTModel",
       .summary = "Marian's transformer as Hugging Face's Transformers has it: OPUS-MT.",
       .sinusoids = Sinusoids::paper,
       .aligns_by_first_head = true},
      {.name = "BartForConditionalGeneration",
       .summary = "BART.",
       .norm_of_embeddings = true,
       .position_offset = 2},
      {.name = "MBartForConditionalGeneration",
       .summary = "mBART and mBART-50.",
       .norm_before = true,
       .norm_of_embeddings = true,
       .norm_at_top = true,
       .position_offset = 2},
      {.name = "M2M100ForConditionalGeneration",
       .summary = "M2M-100 and NLLB-200.",
       .norm_before = true,
       .norm_at_top = true,
       .position_offset = 2,
       .sinusoids = Sinusoids::fairseq},
  }};
  return classes;
}

const BartClass* find_bart_class(std::string_view name) {
  const auto found = std::ranges::find(bart_classes(), name, &BartClass::name);
  return found == bart_classes().end() ? nullptr : &*found;
}

void build_bart(Parameters& parameters, const ModelOptions& options, const BartClass& kind) {
  Bart(parameters, options, kind).build();
}

}  // namespace fuselage
