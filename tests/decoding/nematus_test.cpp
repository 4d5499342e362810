// Models of Nematus with several levels, transitions and layer normalization, by their equations:
// no system here writes recorded output of such models. The equations are those of Nematus for
// Theano (its layers gru_layer and gru_cond_layer), and where they differ of Nematus for
// TensorFlow. They are checked on a shallow model, whose output Marian recorded.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <numeric>
#include <random>

#include "decoding/search/forced_decoder.h"
#include "fuselage/backends/compile.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/models/architectures/architecture.h"
#include "models/formats/npz.h"
#include "models/marian/nematus_model.h"
#include "tests/decoding/support.h"

namespace fuselage::nematus_test {
namespace {

using Row = std::vector<double>;

/// Where the biases of a cell are added.
enum class Bias { input, state, after };

Row operator+(Row a, const Row& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

Row tanh_of(Row x) {
  for (double& v : x) v = std::tanh(v);
  return x;
}

Row joined(Row a, const Row& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// The model under the names of Nematus, evaluated word by word in double.
class NematusReference {
 public:
  NematusReference(const TensorMap& tensors, bool high_state_bias)
      : t_(tensors),
        high_first_(high_state_bias ? Bias::state : Bias::input),
        high_later_(high_state_bias ? Bias::state : Bias::after) {}

  /// The log-probabilities of the target's words.
  std::vector<double> score(const WordIds& source, const WordIds& target) const {
    const std::vector<Row> context = encode(source);
    Row mean(context[0].size());
    for (const Row& row : context)
      for (std::size_t i = 0; i < mean.size(); ++i)
        mean[i] += row[i] / static_cast<double>(context.size());
    const Row start = tanh_of(affine(mean, "ff_state"));
    Row state = start;
    std::vector<Row> high(levels("decoder") - 1, start);
    Row word(row("Wemb", 0).size());
    std::vector<double> scores;
    for (const std::int32_t next : target) {
      state = cell("decoder_", "", word, state, Bias::input);
      const Row attended = attend(context, state);
      state = cell("decoder_", "_nl", attended, state, Bias::state);
      for (int i = 1; has(fmt::format("decoder_U_nl_drt_{}", i)); ++i)
        state = cell("decoder_", fmt::format("_nl_drt_{}", i), {}, state, Bias::state);
      Row top = state;
      for (std::size_t level = 0; level < high.size(); ++level) {
        high[level] = layer(fmt::format("decoder_{}_", level + 2), top, high[level], high_first_,
                            high_later_);
        top = top + high[level];
      }
      const Row hidden = tanh_of(affine(word, "ff_logit_prev") + affine(top, "ff_logit_lstm") +
                                 affine(attended, "ff_logit_ctx"));
      const Row logits = output(hidden) + row("ff_logit_b", 0);
      double sum = 0;
      for (const double logit : logits) sum += std::exp(logit);
      scores.push_back(logits[static_cast<std::size_t>(next)] - std::log(sum));
      word = row(has("Wemb_dec") ? "Wemb_dec" : "Wemb", next);
    }
    return scores;
  }

 private:
  bool has(const std::string& name) const { return t_.contains(name); }

  Row row(const std::string& name, std::int64_t number) const {
    const Tensor& tensor = t_.at(name);
    const std::int64_t width = tensor.shape().back();
    const float* from = tensor.data<float>() + number * width;
    return {from, from + width};
  }

  Row product(const Row& x, const std::string& name) const {
    const Tensor& w = t_.at(name);
    const auto columns = static_cast<std::size_t>(w.shape()[1]);
    Row y(columns);
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t j = 0; j < columns; ++j) y[j] += x[i] * w.data<float>()[i * columns + j];
    return y;
  }

  Row norm(Row x, const std::string& gain, const std::string& shift) const {
    if (!has(gain)) return x;
    const auto n = static_cast<double>(x.size());
    const double mean = std::accumulate(x.begin(), x.end(), 0.0) / n;
    double variance = 0;
    for (const double v : x) variance += (v - mean) * (v - mean) / n;
    const Row s = row(gain, 0), b = row(shift, 0);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = (x[i] - mean) / std::sqrt(variance + 1e-5) * s[i] + b[i];
    return x;
  }

  Row normed(Row x, const std::string& matrix) const {
    return norm(std::move(x), matrix + "_lns", matrix + "_lnb");
  }

  Row affine(const Row& x, const std::string& name) const {
    return norm(product(x, name + "_W") + row(name + "_b", 0), name + "_ln_s", name + "_ln_b");
  }

  /// A GRU; without an input a transition. The conditional cell has other names: "_nl".
  Row cell(const std::string& prefix, const std::string& suffix, const Row& x, const Row& s,
           Bias place) const {
    const bool conditional = suffix == "_nl";
    const auto side = [&](const Row& in, const std::string& name, const std::string& bias,
                          bool with_bias) {
      Row y = product(in, name);
      if (with_bias) y = y + row(bias, 0);
      return normed(y, name);
    };
    const std::string b = prefix + "b" + suffix, bx = prefix + "bx" + suffix;
    Row gates = side(s, prefix + "U" + suffix, b, place == Bias::state);
    Row candidate = side(s, prefix + "Ux" + suffix, bx, place == Bias::state);
    if (place == Bias::after) gates = gates + row(b, 0);
    if (!x.empty())
      gates = gates + side(x, prefix + (conditional ? "Wc" : "W"), b, place == Bias::input);
    const std::size_t size = s.size();
    const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
    for (std::size_t i = 0; i < size; ++i) candidate[i] *= sigmoid(gates[i]);
    if (place == Bias::after) candidate = candidate + row(bx, 0);
    if (!x.empty())
      candidate =
          candidate + side(x, prefix + (conditional ? "Wcx" : "Wx"), bx, place == Bias::input);
    Row next(size);
    for (std::size_t i = 0; i < size; ++i) {
      const double z = sigmoid(gates[size + i]);
      next[i] = (1 - z) * std::tanh(candidate[i]) + z * s[i];
    }
    return next;
  }

  Row layer(const std::string& prefix, const Row& x, Row s, Bias first, Bias later) const {
    s = cell(prefix, "", x, s, first);
    for (int i = 1; has(fmt::format("{}U_drt_{}", prefix, i)); ++i)
      s = cell(prefix, fmt::format("_drt_{}", i), {}, s, later);
    return s;
  }

  std::size_t levels(const std::string& side) const {
    std::size_t count = 1;
    while (has(fmt::format("{}_{}_U", side, count + 1))) ++count;
    return count;
  }

  std::vector<Row> run(const std::string& prefix, const std::vector<Row>& in, bool reversed) const {
    std::vector<Row> out(in.size());
    Row s(static_cast<std::size_t>(t_.at("encoder_Ux").shape()[0]));
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::size_t at = reversed ? in.size() - 1 - i : i;
      s = out[at] = layer(prefix, in[at], s, Bias::input, Bias::after);
    }
    return out;
  }

  /// From level 2 on, a level reads the other direction's output, and adds it to its own.
  std::vector<Row> encode(const WordIds& source) const {
    std::vector<Row> words;
    for (const std::int32_t word : source) words.push_back(row("Wemb", word));
    std::vector<Row> left = run("encoder_", words, false), right = run("encoder_r_", words, true);
    for (std::size_t level = 2; level <= levels("encoder"); ++level) {
      std::vector<Row> next_left = run(fmt::format("encoder_{}_", level), right, false);
      std::vector<Row> next_right = run(fmt::format("encoder_r_{}_", level), left, true);
      for (std::size_t i = 0; i < source.size(); ++i) {
        next_left[i] = next_left[i] + right[i];
        next_right[i] = next_right[i] + left[i];
      }
      left = std::move(next_left);
      right = std::move(next_right);
    }
    for (std::size_t i = 0; i < source.size(); ++i) left[i] = joined(left[i], right[i]);
    return left;
  }

  Row attend(const std::vector<Row>& context, const Row& state) const {
    const Row query = normed(product(state, "decoder_W_comb_att"), "decoder_W_comb_att");
    Row weights;
    double sum = 0;
    for (const Row& c : context) {
      const Row key =
          normed(product(c, "decoder_Wc_att") + row("decoder_b_att", 0), "decoder_Wc_att");
      weights.push_back(std::exp(product(tanh_of(key + query), "decoder_U_att")[0]));
      sum += weights.back();
    }
    Row mixture(context[0].size());
    for (std::size_t i = 0; i < context.size(); ++i)
      for (std::size_t j = 0; j < mixture.size(); ++j)
        mixture[j] += weights[i] / sum * context[i][j];
    return mixture;
  }

  Row output(const Row& hidden) const {
    if (has("ff_logit_W")) return product(hidden, "ff_logit_W");
    const Tensor& table = t_.at(has("Wemb_dec") ? "Wemb_dec" : "Wemb");
    Row logits;
    for (std::int64_t word = 0; word < table.shape()[0]; ++word) {
      const Row embedding = row(has("Wemb_dec") ? "Wemb_dec" : "Wemb", word);
      logits.push_back(std::inner_product(hidden.begin(), hidden.end(), embedding.begin(), 0.0));
    }
    return logits;
  }

  const TensorMap& t_;
  Bias high_first_, high_later_;
};

/// Compares the scores of words with those of the equations.
void expect_equations(const TensorMap& tensors, const std::string& json, bool high_state_bias,
                      const std::vector<WordIds>& sources, const std::vector<WordIds>& targets) {
  const NematusModel converted = read_nematus_model(tensors, json, "model.npz");
  const auto options = ModelOptions::from_yaml(converted.config_yaml, "model.npz");
  Model model = build_model(options.text("type"), options, converted.tensors);
  const auto executable = compile(with_search_head(model.graph, SearchHead::log_probabilities),
                                  std::move(model.weights));
  ForcedDecoder decoder(*executable, false);
  const auto results = decoder.score(sources, targets);
  const NematusReference reference(tensors, high_state_bias);
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const std::vector<double> expected = reference.score(sources[s], targets[s]);
    ASSERT_EQ(results[s].word_scores.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(results[s].word_scores[i], expected[i], 2e-5 * (1 + std::abs(expected[i])))
          << "word " << i << " of sentence " << s;
  }
}

/// A random model of these levels and cells.
struct DeepModel {
  int encoder_levels = 1, decoder_levels = 1;
  int encoder_transitions = 0, base_transitions = 0, high_transitions = 0;
  bool normalized = true;

  static constexpr std::int64_t kWords = 7, kWidth = 4, kState = 6;

  TensorMap make() const {
    TensorMap model;
    std::mt19937 random(5);
    std::normal_distribution<float> normal(0, 0.6f);
    const auto add = [&](const std::string& name, std::vector<std::int64_t> shape) {
      Tensor tensor(DType::f32, std::move(shape));
      for (std::int64_t i = 0; i < tensor.size(); ++i)
        tensor.mutable_data<float>()[i] = normal(random);
      model.emplace(name, std::move(tensor));
    };
    const auto add_normed = [&](const std::string& name, std::int64_t in, std::int64_t out) {
      add(name, {in, out});
      if (!normalized) return;
      add(name + "_lns", {out});
      add(name + "_lnb", {out});
    };
    const auto add_cell = [&](const std::string& prefix, const std::string& suffix,
                              std::int64_t in) {
      const bool conditional = suffix == "_nl";
      add_normed(prefix + "U" + suffix, kState, 2 * kState);
      add_normed(prefix + "Ux" + suffix, kState, kState);
      add(prefix + "b" + suffix, {2 * kState});
      add(prefix + "bx" + suffix, {kState});
      if (in == 0) return;
      add_normed(prefix + (conditional ? "Wc" : "W"), in, 2 * kState);
      add_normed(prefix + (conditional ? "Wcx" : "Wx"), in, kState);
    };
    const auto add_layer = [&](const std::string& prefix, std::int64_t in, int transitions) {
      add_cell(prefix, "", in);
      for (int i = 1; i <= transitions; ++i) add_cell(prefix, fmt::format("_drt_{}", i), 0);
    };
    add("Wemb", {kWords, kWidth});
    add("Wemb_dec", {kWords, kWidth});
    for (int level = 1; level <= encoder_levels; ++level)
      for (const char* side : {"encoder_", "encoder_r_"})
        add_layer(level == 1 ? side : fmt::format("{}{}_", side, level),
                  level == 1 ? kWidth : kState, encoder_transitions);
    add_cell("decoder_", "", kWidth);
    add_cell("decoder_", "_nl", 2 * kState);
    for (int i = 1; i <= base_transitions; ++i)
      add_cell("decoder_", fmt::format("_nl_drt_{}", i), 0);
    for (int level = 2; level <= decoder_levels; ++level)
      add_layer(fmt::format("decoder_{}_", level), kState, high_transitions);
    add_normed("decoder_W_comb_att", kState, 2 * kState);
    add_normed("decoder_Wc_att", 2 * kState, 2 * kState);
    add("decoder_b_att", {2 * kState});
    add("decoder_U_att", {2 * kState, 1});
    add("decoder_c_tt", {1});
    const std::tuple<const char*, std::int64_t, std::int64_t> affine[] = {
        {"ff_state", 2 * kState, kState},
        {"ff_logit_prev", kWidth, kWidth},
        {"ff_logit_lstm", kState, kWidth},
        {"ff_logit_ctx", 2 * kState, kWidth}};
    for (const auto& [name, in, out] : affine) {
      add(std::string(name) + "_W", {in, out});
      add(std::string(name) + "_b", {out});
      if (!normalized) continue;
      add(std::string(name) + "_ln_s", {out});
      add(std::string(name) + "_ln_b", {out});
    }
    add("ff_logit_W", {kWidth, kWords});
    add("ff_logit_b", {kWords});
    return model;
  }
};

const std::vector<WordIds> kSources = {{3, 5, 2, 6, 0}, {4, 0}, {1, 2, 3, 0}};
const std::vector<WordIds> kTargets = {{2, 4, 0}, {6, 5, 3, 1, 0}, {0}};

TEST(NematusEquations, AreThoseOfTheRecordedModel) {
  const TensorMap tensors = read_npz(support::conformance_case("nematus") + "/model.npz").tensors;
  ASSERT_TRUE(tensors.contains("encoder_U_drt_1_lns")) << "a model with transitions and norms";
  expect_equations(tensors, "", false, {{25, 31, 78, 2, 0}, {100, 7, 0}},
                   {{40, 12, 500, 0}, {9, 3, 77, 8, 0}});
}

TEST(NematusEquations, OfSeveralLevelsWithNorms) {
  for (const int encoder : {1, 2, 3})
    for (const int decoder : {1, 2, 3}) {
      SCOPED_TRACE(fmt::format("{} and {} levels", encoder, decoder));
      expect_equations(DeepModel{encoder, decoder}.make(), "", false, kSources, kTargets);
      expect_equations(DeepModel{encoder, decoder, 2, 1, 1}.make(), "", false, kSources, kTargets);
    }
}

TEST(NematusEquations, OfSeveralLevelsWithoutNorms) {
  expect_equations(DeepModel{2, 2, 1, 1, 1, false}.make(), "", false, kSources, kTargets);
  expect_equations(DeepModel{3, 3, 0, 0, 2, false}.make(), "", false, kSources, kTargets);
}

TEST(NematusEquations, OfModelsThatTensorFlowTrained) {
  for (const bool normalized : {false, true}) {
    const TensorMap model = DeepModel{2, 3, 0, 1, 1, normalized}.make();
    expect_equations(model, R"({"theano_compat": false})", true, kSources, kTargets);
    expect_equations(model, R"({"embedding_size": 4})", true, kSources, kTargets);
    expect_equations(model, R"({"theano_compat": true, "embedding_size": 4})", false, kSources,
                     kTargets);
    expect_equations(model, R"({"dim_word": 4})", false, kSources, kTargets);
  }
}

}  // namespace
}  // namespace fuselage::nematus_test
