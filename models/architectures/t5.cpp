#include "models/architectures/t5.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "models/architectures/activation.h"
#include "models/architectures/alignment_heads.h"
#include "models/architectures/attention.h"
#include "models/architectures/embedding_tables.h"
#include "models/architectures/seq2seq.h"

namespace fuselage {
namespace {

class T5 {
 public:
  T5(Parameters& parameters, const ModelOptions& options, const T5Class& kind)
      : p_(parameters),
        b_(parameters.builder()),
        kind_(kind),
        tables_(parameters, "", options.integer("vocab_size", 0), options.integer("vocab_size", 0)),
        d_(tables_.declare()),
        size_(size_option(options, "d_model", 512)),
        heads_(size_option(options, "num_heads", 8, kMostLayers)),
        inner_(heads_ * size_option(options, "d_kv", 64)),
        width_(size_option(options, "d_ff", 2048)),
        layers_(size_option(options, "num_layers", 6, kMostLayers)),
        decoder_layers_(size_option(options, "num_decoder_layers", layers_, kMostLayers)),
        epsilon_(options.real("layer_norm_epsilon", 1e-6)),
        buckets_{.kind = DistanceBuckets::Kind::logarithmic,
                 .max_distance = options.integer("relative_attention_max_distance", 128)},
        // The vocabulary of the entries of the tables of relative positions.
        entries_(b_.graph().add_vocabulary("relative_positions",
                                           options.integer("relative_attention_num_buckets", 32))),
        scales_output_(
            kind.scales_output &&
            options.flag("scale_decoder_outputs", options.flag("tie_word_embeddings", true))),
        // Of the layers, the last but one aligns best (Garg et al. 2019).
        aligned_(alignment_heads(
            options, decoder_layers_, heads_,
            {.layer = std::max<std::int64_t>(decoder_layers_ - 2, 0), .heads = {}})) {
    const std::string function = options.text("feed_forward_proj", kind.feed_forward);
    gated_ = function.starts_with("gated-");
    activation_ = gated_ ? function.substr(std::string_view("gated-").size()) : function;
    // The checkpoints that say so have the other form.
    if (function == "gated-gelu") activation_ = "gelu_new";
  }

  void build() {
    const Expr context = encode(tables_.source_embedding(size_)).named("context");
    Expr top = decode(tables_.target_embedding(size_), context);
    if (scales_output_) top = 1 / std::sqrt(static_cast<double>(size_)) * top;
    b_.output("logits", tables_.logits(top).named("logits"));
  }

 private:
  Expr product(const std::string& name, Expr x, std::int64_t out) {
    return dot_transposed(x, p_.transposed_matrix(name + ".weight", out, x.width()));
  }

  Expr norm(const std::string& name, Expr x) {
    return rms_norm(x, p_.vector(name + ".weight", size_), epsilon_);
  }

  /// A number for each head and pair, by the distance of its members. Layers share those of the
  /// first one unless each has its own.
  Expr relative_positions(const std::string& side, std::int64_t layer, MapId distance) {
    const std::string table =
        fmt::format("{}.block.{}.layer.0.SelfAttention.relative_attention_bias.weight", side,
                    kind_.positions_in_each ? layer : 0);
    return select_rows(p_.table(table, entries_, heads_), {distance});
  }

  /// Multi-head attention without a scale. `positions` may be an invalid Expr: none.
  Attended attention(const std::string& name, Expr x, Expr memory, DomainId pairs, Expr positions) {
    const Expr q = product(name + ".q", x, inner_);
    const Expr k = product(name + ".k", memory, inner_);
    const Expr v = product(name + ".v", memory, inner_);
    const Attended attended = attend(left(q, pairs), right(k, pairs), v, heads_, 1, positions);
    return {product(name + ".o", attended.output, size_), attended.weights};
  }

  Expr feed_forward(const std::string& layer, Expr x) {
    const std::string name = layer + ".DenseReluDense";
    const Expr h = norm(layer + ".layer_norm", x);
    const Expr hidden = gated_ ? activation(activation_, product(name + ".wi_0", h, width_)) *
                                     product(name + ".wi_1", h, width_)
                               : activation(activation_, product(name + ".wi", h, width_));
    return x + product(name + ".wo", hidden, size_);
  }

  Expr encode(Expr x) {
    const DomainId source = d_.texts[0].source;
    const DomainId pairs = b_.graph().add_pairs("source_pairs", source, source);
    const MapId distance =
        b_.graph().add_distance_map("source.distance", pairs, entries_, buckets_);
    for (std::int64_t i = 0; i < layers_; ++i) {
      const std::string block = fmt::format("encoder.block.{}.layer", i);
      const Builder::Scope scope(b_, block);
      const Expr h = norm(block + ".0.layer_norm", x);
      x = x + attention(block + ".0.SelfAttention", h, h, pairs,
                        relative_positions("encoder", i, distance))
                  .output;
      x = feed_forward(block + ".1", x);
    }
    return norm("encoder.final_layer_norm", x);
  }

  Expr decode(Expr x, Expr context) {
    const DomainId prefix = b_.graph().add_prefix("prefix", d_.hypothesis);
    const DomainId pairs = b_.graph().add_pairs("hyp_prefix", d_.hypothesis, prefix);
    DistanceBuckets earlier = buckets_;
    earlier.causal = true;
    const MapId distance = b_.graph().add_distance_map("hyp.distance", pairs, entries_, earlier);
    for (std::int64_t i = 0; i < decoder_layers_; ++i) {
      const std::string block = fmt::format("decoder.block.{}.layer", i);
      const Builder::Scope scope(b_, block);
      const Expr h = norm(block + ".0.layer_norm", x);
      x = x + attention(block + ".0.SelfAttention", h, history(h, prefix), pairs,
                        relative_positions("decoder", i, distance))
                  .output;
      const Attended attended =
          attention(block + ".1.EncDecAttention", norm(block + ".1.layer_norm", x), context,
                    d_.texts[0].hypothesis, {});
      if (i == aligned_.layer) add_alignment(b_, attended.weights, aligned_);
      x = feed_forward(block + ".2", x + attended.output);
    }
    return norm("decoder.final_layer_norm", x);
  }

  Parameters& p_;
  Builder& b_;
  const T5Class& kind_;
  EmbeddingTables tables_;
  Seq2SeqDomains d_;
  std::int64_t size_, heads_, inner_, width_, layers_, decoder_layers_;
  double epsilon_;
  DistanceBuckets buckets_;
  DomainId entries_;
  bool scales_output_, gated_ = false;
  AlignmentHeads aligned_;
  std::string activation_;
};

}  // namespace

std::span<const T5Class> t5_classes() {
  static const std::array<T5Class, 3> classes = {{
      {.name = "T5ForConditionalGeneration",
       .summary = "T5, its version 1.1, and MADLAD-400.",
       .feed_forward = "relu"},
      {.name = "MT5ForConditionalGeneration",
       .summary = "mT5: T5 with gated layers.",
       .feed_forward = "gated-gelu",
       .scales_output = false},
      {.name = "UMT5ForConditionalGeneration",
       .summary = "umT5: mT5 with relative positions of each layer.",
       .feed_forward = "gated-gelu",
       .positions_in_each = true},
  }};
  return classes;
}

void build_t5(Parameters& parameters, const ModelOptions& options, const T5Class& kind) {
  T5(parameters, options, kind).build();
}

}  // namespace fuselage
