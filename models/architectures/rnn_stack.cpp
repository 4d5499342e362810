#include "models/architectures/rnn_stack.h"

#include <fmt/format.h>

#include <iterator>
#include <sstream>

#include "base/numbers/number_range.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "models/architectures/cells.h"
#include "models/architectures/seq2seq.h"

namespace fuselage {
namespace {

constexpr NumberRange kCounts{1, 256}, kSizes{1, 65536};

/// A layer of a list: "bi-gru 512", "gru+gru 1000", "tanh-layer 1024".
struct Layer {
  std::string name, kind;  ///< the prefix of its parameters; its cell or activation
  std::int64_t size = 0;
};

/// The layers of option `key`. "7 relu-layer 768" are seven.
std::vector<Layer> read_layers(const ModelOptions& options, const std::string& key) {
  std::vector<Layer> layers;
  for (const std::string& text : options.texts(key)) {
    std::istringstream words(text);
    const std::vector<std::string> parts{std::istream_iterator<std::string>(words), {}};
    const bool counted = parts.size() == 3;
    const auto count = counted ? parse_number_in(kCounts, parts[0]) : 1;
    const auto size = parts.empty() ? std::nullopt : parse_number_in(kSizes, parts.back());
    if (parts.size() < 2 || parts.size() > 3 || !count || !size)
      throw Error(fmt::format(
          "{}: '{}' has the layer {}; it must be a kind and a size, as \"gru 512\", after a number "
          "of such layers if there are several",
          options.where(), key, in_quotes(text)));
    for (int i = 0; i < *count; ++i)
      layers.push_back({fmt::format("{}_l{}", key, layers.size() + 1), parts[counted ? 1 : 0],
                        static_cast<std::int64_t>(*size)});
  }
  if (layers.empty()) throw Error(fmt::format("{}: '{}' lists no layers", options.where(), key));
  return layers;
}

class RnnStack {
 public:
  RnnStack(Parameters& parameters, const ModelOptions& options)
      : p_(parameters),
        b_(parameters.builder()),
        sizes_{.dim_vocabs = options.integers("dim-vocabs"),
               .dim_emb = options.integer("dim-emb", 512)},
        vocabularies_(parameters, sizes_, {"encoder"}, "output"),
        d_(vocabularies_.domains()),
        encoder_(read_layers(options, "encoder")),
        decoder_(read_layers(options, "decoder")),
        readout_(options.integer("readout", 0)),
        output_words_(
            options.integer("output-words", b_.graph().domain(d_.target_vocabulary).size)) {}

  void build() {
    const std::int64_t words = b_.graph().domain(d_.target_vocabulary).size;
    if (output_words_ < 1 || output_words_ > words)
      throw Error(
          fmt::format("'output-words' is {}, it must be from 1 to {}", output_words_, words));
    Expr x = vocabularies_.source_embedding(0);
    for (const Layer& layer : encoder_) x = encode(layer, x);
    const Expr context = x.named("context");
    const Expr word = vocabularies_.target_embedding();
    auto [top, attended] = attentional_layer(decoder_.front(), word, context);
    // The value that the next skip connection adds, and the layers since then.
    Expr skipped;
    for (std::size_t i = 1, since = 0; i < decoder_.size(); ++i) {
      const Layer& layer = decoder_[i];
      if (!layer.kind.ends_with("-layer")) {
        top = recurrent_layer(layer, top);
        skipped = {};
        continue;
      }
      top = activation(layer, affine(layer.name, {top}, layer.size));
      const bool fits = skipped.valid() && skipped.width() == layer.size;
      if (fits && ++since < 2) continue;
      if (fits) top = top + skipped;
      skipped = top;
      since = 0;
    }
    if (readout_ > 0) top = tanh(affine("readout", {top, word, attended}, readout_));
    b_.output("logits", affine("output", {top}, output_words_).named("logits"));
  }

 private:
  /// The sum of the products of several values, plus a bias.
  Expr affine(const std::string& name, const std::vector<Expr>& inputs, std::int64_t size) {
    const Builder::Scope scope(b_, name);
    Expr sum;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Expr product =
          dot(inputs[i], p_.matrix(numbered(name + "_W", i), inputs[i].width(), size));
      sum = sum.valid() ? sum + product : product;
    }
    return sum + p_.vector(name + "_b", size);
  }

  static Expr activation(const Layer& layer, Expr x) {
    if (layer.kind == "relu-layer") return relu(x);
    if (layer.kind == "tanh-layer") return tanh(x);
    throw Error(fmt::format("there is no {}; a layer without a state is relu-layer or tanh-layer",
                            in_quotes(layer.kind)));
  }

  /// A recurrent layer in one direction, or with "bi-" side by side in both.
  Expr encode(const Layer& layer, Expr x) {
    if (!layer.kind.starts_with("bi-")) return scan({layer.name, layer.kind, layer.size}, x, false);
    const std::string cell = layer.kind.substr(3);
    return concat({scan({layer.name, cell, layer.size}, x, false),
                   scan({layer.name + "_r", cell, layer.size}, x, true)});
  }

  Expr scan(const Layer& layer, Expr x, bool reversed) {
    const DomainId loop = b_.graph().add_scan(layer.name, d_.texts[0].source, reversed);
    const CarriedState state(b_, layer.kind, b_.constant(0, {layer.size}), loop, layer.name);
    const CellState s = cell(layer, broadcast(x, loop), state.in(loop));
    state.next(s);
    return collect(s.output);
  }

  CellState cell(const Layer& layer, Expr x, const CellState& s) {
    return recurrent_cell(p_, layer.name, x, s, {.type = layer.kind, .size = layer.size});
  }

  /// A layer of the decoder that only carries its state: it starts at zeros.
  Expr recurrent_layer(const Layer& layer, Expr x) {
    const CarriedState state(b_, layer.kind, b_.constant(0, {layer.size}), d_.parent, layer.name);
    const CellState s = cell(layer, x, state.in(d_.hypothesis));
    state.next(s);
    return s.output;
  }

  /// The output of the first layer of the decoder, and the mixture that it attends to. The state
  /// begins with the mean of the context. Of one cell, the state before it attends, and
  /// the cell reads the last word and the mixture; of two, "gru+gru", the first reads the word and
  /// attends, and the second reads the mixture (the conditional cell of Sennrich et al. 2017).
  std::pair<Expr, Expr> attentional_layer(const Layer& layer, Expr word, Expr context) {
    const std::size_t plus = layer.kind.find('+');
    const Layer first{layer.name, layer.kind.substr(0, plus), layer.size};
    const Expr start = tanh(affine("decoder_start", {mean_rows(context)}, layer.size));
    const CarriedState state(b_, first.kind, start, d_.parent, layer.name);
    CellState s = state.in(d_.hypothesis);
    if (plus != std::string::npos) s = cell(first, word, s);
    const Expr weights =
        additive_attention(p_, layer.name, context, s.output, d_.texts[0].hypothesis);
    b_.output("alignment", weights.named("alignment"));
    const Expr mixture = mix(weights, context).named("attended");
    if (plus == std::string::npos) {
      s = cell(first, concat({word, mixture}), s);
    } else {
      const Layer second{layer.name + "_second", layer.kind.substr(plus + 1), layer.size};
      s.output = cell(second, mixture, s).output;
    }
    state.next(s);
    return {s.output, mixture};
  }

  Parameters& p_;
  Builder& b_;
  MarianOptions sizes_;
  Vocabularies vocabularies_;
  const Seq2SeqDomains& d_;
  std::vector<Layer> encoder_, decoder_;
  std::int64_t readout_, output_words_;
};

}  // namespace

void build_rnn_stack(Parameters& parameters, const ModelOptions& options) {
  RnnStack(parameters, options).build();
}

}  // namespace fuselage
