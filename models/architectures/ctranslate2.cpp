#include "models/architectures/ctranslate2.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "fuselage/base/error.h"
#include "fuselage/ops/structure/leaf.h"
#include "models/architectures/activation.h"
#include "models/architectures/alignment_heads.h"
#include "models/architectures/attention.h"
#include "models/architectures/seq2seq.h"

namespace fuselage {
namespace {

/// The encoder or the decoder, and its options, whose names begin with its own.
struct TransformerSide {
  TransformerSide(const ModelOptions& options, const std::string& side, std::int64_t width)
      : name(side),
        layers(options.integer(side + "-layers", 6)),
        heads(options.integer(side + "-heads", 8)),
        head(options.integer(side + "-dim-head", heads > 0 ? width / heads : 0)),
        inner(options.integer(side + "-dim-ffn", 4 * width)),
        max_distance(options.integer(side + "-max-distance", 128)),
        is_pre_norm(options.flag(side + "-pre-norm", true)),
        activation(options.text(side + "-activation", "relu")),
        embedding_scale(options.real(side + "-embedding-scale", 1)),
        queries_scale(options.real(side + "-queries-scale",
                                   scale_of_scores(std::max<std::int64_t>(head, 1)))) {
    for (const auto& [value, option] : {std::pair(layers, "layers"), std::pair(heads, "heads"),
                                        std::pair(head, "dim-head"), std::pair(inner, "dim-ffn")})
      if (value < 1 || value > 65536)
        throw Error(fmt::format("'{}-{}' is {}, it must be from 1 to 65536", side, option, value));
  }

  std::string name;
  std::int64_t layers, heads, head, inner, max_distance;
  bool is_pre_norm;
  std::string activation;
  double embedding_scale, queries_scale;
  DomainId pairs;  ///< of self-attention

  std::string layer(std::int64_t i) const { return fmt::format("{}/layer_{}", name, i); }
};

class Ctranslate2Transformer {
 public:
  Ctranslate2Transformer(Parameters& parameters, const ModelOptions& options)
      : p_(parameters),
        b_(parameters.builder()),
        o_(options),
        width_(options.integer("dim-emb", 512)),
        is_rms_(options.flag("rms-norm")),
        epsilon_(options.real("layer-norm-epsilon", is_rms_ ? 1e-6 : 1e-5)),
        encoder_(options, "encoder", width_),
        decoder_(options, "decoder", width_),
        aligned_(alignment_heads(options, decoder_.layers, decoder_.heads,
                                 {.layer = decoder_.layers - 1, .heads = {0}})),
        source_table_(options.text("source-table", "encoder/embeddings_0/weight")),
        target_table_(options.text("target-table", "decoder/embeddings/weight")),
        output_table_(options.text("output-table", "decoder/projection/weight")) {
    if (width_ < 4 || width_ > 65536 || width_ % 2 != 0)
      throw Error(fmt::format("'dim-emb' is {}, it must be even and from 4 to 65536", width_));
  }

  void build() {
    Graph& graph = b_.graph();
    const bool shared = source_table_ == target_table_;
    const DomainId words = add_words(shared ? "vocabulary" : "source_vocabulary", source_table_, 0);
    const DomainId target = add_words("target_vocabulary", target_table_, 1);
    words_.try_emplace(output_table_, target);
    d_ = declare_seq2seq(graph, {words}, target);
    prefix_ = graph.add_prefix("prefix", d_.hypothesis);
    encoder_.pairs = graph.add_pairs("source_pairs", d_.texts[0].source, d_.texts[0].source);
    decoder_.pairs = graph.add_pairs("hyp_prefix", d_.hypothesis, prefix_);
    decode(encode(select_rows(table(source_table_), {d_.texts[0].word})));
  }

 private:
  /// The words of a table, which both sides may have.
  DomainId add_words(const char* name, const std::string& table, std::size_t side) {
    const auto [words, is_new] = words_.try_emplace(table);
    const std::vector<std::int64_t> sizes = o_.integers("dim-vocabs");
    if (is_new)
      words->second =
          b_.graph().add_vocabulary(name, p_.rows(table, sizes.size() > side ? sizes[side] : 0));
    return words->second;
  }

  Expr table(const std::string& name) { return p_.table(name, words_.at(name), width_); }

  // --- Parts of layers ---

  /// x W + b.
  Expr affine(const std::string& name, Expr x, std::int64_t out) {
    const Expr product = dot(x, p_.matrix(name + "/weight", x.width(), out));
    return p_.has(name + "/bias") ? product + p_.vector(name + "/bias", out) : product;
  }

  Expr norm(const std::string& name, Expr x) {
    const Expr gain = p_.vector(name + "/gamma", width_);
    if (is_rms_) return rms_norm(x, gain, epsilon_);
    return layer_norm(x, gain, p_.vector(name + "/beta", width_), epsilon_);
  }

  Expr norm_if_stored(const std::string& name, Expr x) {
    return p_.has(name + "/gamma") ? norm(name, x) : x;
  }

  /// A norm before a sub-layer, or after it and the sum with its input.
  Expr before(const TransformerSide& side, const std::string& name, Expr x) {
    return side.is_pre_norm ? norm(name + "/layer_norm", x) : x;
  }
  Expr after(const TransformerSide& side, const std::string& name, Expr output, Expr input) {
    return side.is_pre_norm ? output + input : norm(name + "/layer_norm", output + input);
  }

  Expr feed_forward(const TransformerSide& side, const std::string& name, Expr x) {
    const Builder::Scope scope(b_, name);
    const Expr input = before(side, name, x);
    Expr inner = activation(side.activation, affine(name + "/linear_0", input, side.inner));
    if (p_.has(name + "/linear_0_noact/weight"))
      inner = inner * affine(name + "/linear_0_noact", input, side.inner);
    return after(side, name, affine(name + "/linear_1", inner, width_), x);
  }

  // --- Positions ---

  static std::string first_attention(const TransformerSide& side) {
    return side.layer(0) + "/self_attention";
  }

  Expr with_positions(const TransformerSide& side, Expr embedding) {
    const Expr x = side.embedding_scale == 1 ? embedding : embedding * side.embedding_scale;
    const DomainId domain = x.type().domain;
    const std::string stored = side.name + "/position_encodings/encodings";
    if (p_.has(first_attention(side) + "/relative_position_keys") ||
        p_.has(first_attention(side) + "/relative_attention_bias"))
      return x;
    if (!p_.has(stored)) return x + sinusoids(domain);
    const DomainId table = b_.graph().add_vocabulary(side.name + ".positions", p_.rows(stored));
    const MapId map = b_.graph().add_position_map(side.name + ".position", domain, table);
    return x + select_rows(p_.table(stored, table, width_), {map});
  }

  /// [sin … | cos …] of positions that are counted from 1, unlike in the op `sinusoid`.
  Expr sinusoids(DomainId domain) {
    std::vector<double> rates;
    const std::int64_t count = width_ / 2;
    const float increment = std::log(10000.0F) / static_cast<float>(count - 1);
    for (std::int64_t i = 0; i < count; ++i)
      rates.push_back(std::exp(static_cast<float>(i) * -increment));
    const Expr rate = b_.add(op::Constant{.values = std::move(rates), .dims = {count}}, {});
    const Expr angle = (cast(b_.position(domain), DType::f32) + 1) * rate;
    return concat({sin(angle), cos(angle)});
  }

  /// The row of a table of distances for each pair of self-attention; invalid if it is not stored.
  Expr by_distance(const TransformerSide& side, const std::string& name, std::int64_t width,
                   DistanceBuckets::Kind kind) {
    if (!p_.has(name)) return {};
    const bool is_logarithmic = kind == DistanceBuckets::Kind::logarithmic;
    const std::string domain = side.name + ".distances";
    DomainId table = b_.graph().find_domain(domain);
    if (!table.valid()) table = b_.graph().add_vocabulary(domain, p_.rows(name));
    const std::string map_name = side.name + ".distance";
    MapId map = b_.graph().find_map(map_name);
    if (!map.valid())
      map = b_.graph().add_distance_map(map_name, side.pairs, table,
                                        {.kind = kind,
                                         .max_distance = is_logarithmic ? side.max_distance : 0,
                                         .causal = is_logarithmic && side.name == "decoder"});
    Expr rows = p_.table(name, table, width);
    // Of the vectors of Shaw et al. 2018 all heads have the same.
    if (!is_logarithmic)
      rows = reshape(expand(reshape(rows, {1, width}), {side.heads, width}), {side.heads * width});
    return select_rows(rows, {map});
  }

  // --- Attention ---

  /// Attention with one width of queries, keys and values (Vaswani et al. 2017, section 3.2), which
  /// may depend on distances: by vectors that are added to keys and values (Shaw et al. 2018,
  /// section 3.2), or by a bias of scores that all layers share (Raffel et al. 2020, section 2.1).
  Attended attention(const TransformerSide& side, const std::string& name, Expr q, Expr k, Expr v,
                     DomainId pairs) {
    using Kind = DistanceBuckets::Kind;
    Expr keys = right(k, pairs), bias, values;
    if (pairs == side.pairs) {
      const Expr added =
          by_distance(side, name + "/relative_position_keys", side.head, Kind::clipped);
      if (added.valid()) keys = keys + added;
      values = by_distance(side, name + "/relative_position_values", side.head, Kind::clipped);
      bias = by_distance(side, first_attention(side) + "/relative_attention_bias", side.heads,
                         Kind::logarithmic);
    }
    Attended attended = attend(left(q, pairs), keys, v, side.heads, side.queries_scale, bias);
    if (values.valid()) {
      const Expr repeated =
          expand(reshape(attended.weights, {side.heads, 1}), {side.heads, side.head});
      const Expr added = sum_rows(reshape(repeated, {side.heads * side.head}) * values);
      attended.output = attended.output + added;
    }
    return attended;
  }

  Expr self_attention(const TransformerSide& side, const std::string& name, Expr x) {
    const Builder::Scope scope(b_, name);
    const std::int64_t size = side.heads * side.head;
    const Expr all = affine(name + "/linear_0", before(side, name, x), 3 * size);
    const auto memory = [&](Expr value) {
      return side.name == "decoder" ? history(value, prefix_) : value;
    };
    const Expr mixture =
        attention(side, name, slice(all, 0, size), memory(slice(all, size, 2 * size)),
                  memory(slice(all, 2 * size, 3 * size)), side.pairs)
            .output;
    return after(side, name, affine(name + "/linear_1", mixture, width_), x);
  }

  Expr cross_attention(std::int64_t layer, Expr x, Expr context) {
    const std::string name = decoder_.layer(layer) + "/attention";
    const Builder::Scope scope(b_, name);
    const std::int64_t size = decoder_.heads * decoder_.head;
    const Expr q = affine(name + "/linear_0", before(decoder_, name, x), size);
    const Expr kv = affine(name + "/linear_1", context, 2 * size);
    const auto [mixture, weights] = attention(decoder_, name, q, slice(kv, 0, size),
                                              slice(kv, size, 2 * size), d_.texts[0].hypothesis);
    if (layer == aligned_.layer) add_alignment(b_, weights, aligned_);
    return after(decoder_, name, affine(name + "/linear_2", mixture, width_), x);
  }

  // --- Sides ---

  Expr encode(Expr embedding) {
    Expr x = norm_if_stored("encoder/layernorm_embedding", with_positions(encoder_, embedding));
    for (std::int64_t i = 0; i < encoder_.layers; ++i) {
      x = self_attention(encoder_, encoder_.layer(i) + "/self_attention", x);
      x = feed_forward(encoder_, encoder_.layer(i) + "/ffn", x);
    }
    return norm_if_stored("encoder/layer_norm", x).named("context");
  }

  void decode(Expr context) {
    Expr start;
    if (!o_.flag("start-from-zero-embedding"))
      start = p_.default_row("decoder/start_embedding", width_);
    const Expr embedding = select_rows(table(target_table_), {d_.last_word}, start);
    Expr x = norm_if_stored("decoder/layernorm_embedding", with_positions(decoder_, embedding));
    for (std::int64_t i = 0; i < decoder_.layers; ++i) {
      x = self_attention(decoder_, decoder_.layer(i) + "/self_attention", x);
      x = cross_attention(i, x, context);
      x = feed_forward(decoder_, decoder_.layer(i) + "/ffn", x);
    }
    x = norm_if_stored("decoder/layer_norm", x);
    if (const double scale = o_.real("output-scale", 1); scale != 1) x = x * scale;
    Expr logits = dot_transposed(x, table(output_table_));
    if (p_.has("decoder/projection/bias"))
      logits = logits + p_.vector("decoder/projection/bias", logits.width());
    b_.output("logits", logits.named("logits"));
  }

  Parameters& p_;
  Builder& b_;
  const ModelOptions& o_;
  std::int64_t width_;
  bool is_rms_;
  double epsilon_;
  TransformerSide encoder_, decoder_;
  AlignmentHeads aligned_;
  std::string source_table_, target_table_, output_table_;
  std::map<std::string, DomainId> words_;  ///< by table
  Seq2SeqDomains d_;
  DomainId prefix_;
};

}  // namespace

void build_ctranslate2_transformer(Parameters& parameters, const ModelOptions& options) {
  Ctranslate2Transformer(parameters, options).build();
}

}  // namespace fuselage
