#include <fmt/format.h>

#include <cmath>

#include "tests/ops/evaluate_cases/cases.h"

namespace fuselage {
namespace {

/// States of a GRU, or an LSTM, of one unit whose weights are all 1, but for a bias of 0.5 beside
/// the state's products; `sums` are the elements of each row of its input together.
std::vector<double> gru_of_ones(const std::vector<double>& sums) {
  double h = 0;
  std::vector<double> states;
  for (const double x : sums) {
    const double gate = logistic(x + h + 0.5);
    h = (1 - gate) * std::tanh(x + gate * (h + 0.5)) + gate * h;
    states.push_back(h);
  }
  return states;
}

std::vector<double> lstm_of_ones(const std::vector<double>& sums) {
  double h = 0, cell = 0;
  std::vector<double> states;
  for (const double x : sums) {
    const double gate = logistic(x + h + 0.5);
    cell = gate * cell + gate * std::tanh(x + h + 0.5);
    h = gate * std::tanh(cell);
    states.push_back(h);
  }
  return states;
}

/// A layer of those weights over the rows of %x.
std::string layer_of_ones(const std::string& cell, int gates, const std::string& over) {
  const std::string vector = fmt::format("dims = [{}]}}\n", gates);
  return fmt::format("%w = constant() {{values = [1], dims = [2, {}]}}\n", gates) +
         fmt::format("%u = constant() {{values = [1], dims = [1, {}]}}\n", gates) +
         "%b = constant() {values = [0], " + vector + "%k = constant() {values = [0.5], " + vector +
         fmt::format("%y = recurrent_layer(%x, %w, %u, %b, %k) {{cell = \"{}\", over = {}}}", cell,
                     over);
}

/// The largest of five log-probabilities whose logits are equally far apart.
double near_zero(double gap) {
  double others = 0;
  for (int i = 1; i < 5; ++i) others += std::exp(-gap * i);
  return -std::log1p(others);
}

}  // namespace

std::vector<EvaluateCase> fused_cases() {
  const double l2 = std::log(2.0);
  return {
      {"add_layer_norm",
       "%y, %sum = add_layer_norm(%x4, %s, %v4, %v4) {epsilon = 0.19}",
       {{-0.25, 7.0 / 6, 4.25, 9, -0.25, 7.0 / 6, 4.25, 9, -0.25, 7.0 / 6, 4.25, 9},
        {3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}}},
      {"add_rms_norm",
       "%y, %sum = add_rms_norm(%h, %h, %v) {epsilon = 2}",
       {{10 / std::sqrt(3.0), 2 / std::sqrt(3.0), 5 / std::sqrt(5.125), -3 / std::sqrt(5.125), -10,
         0, 20 / std::sqrt(4.5), -2 / std::sqrt(4.5)},
        {2, -4, 1, 6, -2, 0, 4, 4}}},
      // Positions 3, 3, 0 and 7, and frequencies 1 and 1/10000; angles are of single precision.
      {"add_sinusoid",
       "%hh = concat(%h, %h)\n%y = add_sinusoid(%hh)",
       {{1 + std::sin(3.0), -2 + std::sin(3e-4), 1 + std::cos(3.0), -2 + std::cos(3e-4),
         0.5 + std::sin(3.0), 3 + std::sin(3e-4), 0.5 + std::cos(3.0), 3 + std::cos(3e-4), -1, 0, 0,
         1, 2 + std::sin(7.0), 2 + std::sin(7e-4), 2 + std::cos(7.0), 2 + std::cos(7e-4)}},
       1e-9},
      {"head_dot",
       "%y = head_dot(%c4, %d4) {heads = 2, scale = 0.5}",
       {{0.5, 0, 3, 0, 0, 5.5, 0, 8, 17.5, 19.5}}},
      {"head_dot", "%y = head_dot(%c4, %d4) {heads = 1}", {{1, 6, 11, 16, 74}}},
      {"head_dot",
       "%y = head_dot(%v4, %d4) {heads = 4}",
       {{1, 4, 9, 16, 5, 12, 21, 32, 9, 20, 33, 48, 13, 28, 45, 64, 17, 36, 57, 80}}},
      {"dot_attention",
       "%y, %mixed = dot_attention(%h, %x, %x4) "
       "{left = [cross.left], right = [cross.right], heads = 2, scale = 0.5}",
       {{0.2689414213699951, 0.8807970779778823, 0.7310585786300049, 0.11920292202211755,
         0.37754066879814546, 0.04742587317756679, 0.6224593312018546, 0.9525741268224334, 1.0,
         1.0},
        {3.9242343145200196, 4.92423431452002, 3.47681168808847, 4.476811688088469,
         3.4898373248074184, 4.489837324807419, 6.810296507289734, 7.810296507289734, 9.0, 10.0,
         11.0, 12.0, 0.0, 0.0, 0.0, 0.0}}},
      {"dot_attention",
       "%y, %mixed = dot_attention(%h, %x, %x4, %c) "
       "{left = [cross.left], right = [cross.right], heads = 2, scale = 0.5}",
       {{0.26894142136999516, 0.5, 0.7310585786300049, 0.5, 0.26894142136999516,
         0.0066928509242848554, 0.7310585786300049, 0.9933071490757152, 1.0, 1.0},
        {3.9242343145200196, 4.92423431452002, 5.0, 6.0, 3.9242343145200196, 4.92423431452002,
         6.973228596302861, 7.973228596302861, 9.0, 10.0, 11.0, 12.0, 0.0, 0.0, 0.0, 0.0}}},
      {"additive_attention",
       "%w1 = constant() {values = [1, -0.5], dims = [2, 1]}\n"
       "%y, %mixed = additive_attention(%h, %x, %w1, %x4) "
       "{left = [cross.left], right = [cross.right]}",
       {{0.3193933568606765, 0.6806066431393235, 0.275981140481296, 0.724018859518704, 1.0},
        {3.722426572557294, 4.722426572557294, 5.7224265725572945, 6.7224265725572945,
         3.8960754380748166, 4.896075438074816, 5.896075438074816, 6.896075438074816, 9.0, 10.0,
         11.0, 12.0, 0.0, 0.0, 0.0, 0.0}}},
      {"leading_rows", "%y = leading_rows(%e) {count = 2}", {{0, 1, 10, 11}}},
      {"leading_rows",
       "%r = param() {name = \"ranks\", domain = vocab, dims = [], dtype = i32}\n"
       "%y = leading_rows(%e, %r) {count = 2}",
       {{10, 11, 20, 21}}},

      // Whatever the table holds, the op stands for the product.
      {"lookup_matmul",
       "%y = lookup_matmul(%e, %m, %m) {via = [hyp.word]}",
       {{104, 145, 186, 0, 0, 0, 204, 285, 366, 4, 5, 6}}},
      {"pointwise",
       "%y, %t = pointwise(%h, %h1, %v) {expression = \"t0 = add(x0, x1); mul(t0, max(2, x2)); "
       "t0\"}",
       {{20.0, -2.0, 25.0, 10.0, 20.0, 6.0, 60.0, 12.0},
        {2.0, -1.0, 2.5, 5.0, 2.0, 3.0, 6.0, 6.0}}},
      {"linear",
       "%y = linear(%h, %m, %h1) {expression = \"abs(sub(x0, x1))\"}",
       {{8.0, 9.0, 10.0, 10.5, 14.0, 17.5, 4.0, 5.0, 6.0, 6.0, 10.0, 14.0}}},

      // Sentences of two rows and of one.
      {"recurrent_layer",
       layer_of_ones("gru", 3, "fwd"),
       {{gru_of_ones({3, 7})[0], gru_of_ones({3, 7})[1], gru_of_ones({11})[0]}}},
      {"recurrent_layer",
       layer_of_ones("gru", 3, "bwd"),
       {{gru_of_ones({7, 3})[1], gru_of_ones({7, 3})[0], gru_of_ones({11})[0]}}},
      {"recurrent_layer",
       layer_of_ones("lstm", 4, "fwd"),
       {{lstm_of_ones({3, 7})[0], lstm_of_ones({3, 7})[1], lstm_of_ones({11})[0]}}},
      {"recurrent_layer",
       layer_of_ones("lstm", 4, "bwd"),
       {{lstm_of_ones({7, 3})[1], lstm_of_ones({7, 3})[0], lstm_of_ones({11})[0]}}},

      // What is quantized stands behind all else, in the order asked for.
      {"pointwise",
       "%y, %t, %qt, %q = pointwise(%h, %s) {expression = \"t0 = neg(x0); t0; mul(x1, t0)\", "
       "quantized = [1, 0]}",
       {{-1, 2, -0.5, -3, 1, 0, -2, -2},
        {-2, 4, -1, -6, 2, 0, -4, -4},
        {-64 * 4 / 127., 4, -21 * 6 / 127., -6, 2, 0, -4, -4},
        {-64 * 2 / 127., 2, -21 * 3 / 127., -3, 1, 0, -2, -2}},
       1e-7},
      {"shortlist_k_best",
       "%y, %ids = shortlist_k_best(%h, %e) {transposed = true, k = 2, log_softmax = false, "
       "to = [cross.left], words = [cross.right, source.word]}",
       {{-2, -12, 38, 3, -30, -kInf, -kInf, -kInf}, {0, 1, 1, 0, 3, -1, -1, -1}}},
      {"shortlist_k_best",
       "%b = constant() {values = [0, 12, 0, 0, 0], dims = [5]}\n"
       "%y, %ids = shortlist_k_best(%h, %e, %b) {transposed = true, k = 1, "
       "to = [cross.left], words = [cross.right, source.word]}",
       {{-std::log1p(std::exp(-2)), -std::log1p(std::exp(-47)), 0, -kInf}, {1, 1, 3, -1}}},
      // A hypothesis whose logits are NaN has no better words than the first.
      {"shortlist_k_best",
       "%b = constant() {values = [5, inf, 0, 0, 0], dims = [5]}\n"
       "%y, %ids = shortlist_k_best(%h, %e, %b) {transposed = true, k = 2, "
       "to = [cross.left], words = [cross.right, source.word]}",
       {{-kInf, -kInf, -kInf, -kInf, 0, -kInf, -kInf, -kInf}, {1, 0, 1, 0, 3, -1, -1, -1}}},
      {"sampled_matmul",
       "%b = constant() {values = [0, 12, 0, 0, 0], dims = [5]}\n"
       "%y = sampled_matmul(%h, %e, %b) {transposed = true, "
       "to = [cross.left], words = [cross.right, source.word]}",
       {{0, -2, 50, 3, -30}}},

      // Logits 10, 35, 10 and 40 apart.
      {"linear_k_best",
       "%y, %ids = linear_k_best(%h, %e) {transposed = true, k = 2, log_softmax = false}",
       {{-2, -12, 143, 108, 0, -10, 162, 122}, {0, 1, 4, 3, 0, 1, 4, 3}}},
      {"linear_k_best",
       "%y, %ids = linear_k_best(%h, %e) {transposed = true, k = 1}",
       {{near_zero(10), near_zero(35), near_zero(10), near_zero(40)}, {0, 4, 0, 4}}},
      {"linear_k_best",
       "%b = constant() {values = [0, 1, 2], dims = [3]}\n"
       "%y, %ids = linear_k_best(%h, %m, %b) {k = 3, log_softmax = false}",
       {{-7, -7, -7, 21.5, 17, 12.5, -1, -1, -1, 20, 15, 10},
        {0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0}}},
      {"linear_k_best",
       "%w = constant() {values = [0], dims = [2, 2]}\n"
       "%b = constant() {values = [1, 1], dims = [2]}\n"
       "%y, %ids, %n = linear_k_best(%h, %w, %b) {k = 1, normalizer = true}",
       {{-l2, -l2, -l2, -l2}, {0, 0, 0, 0}, {1 + l2, 1 + l2, 1 + l2, 1 + l2}}},
      // Rows of NaN have no better words than the first.
      {"linear_k_best",
       "%w = constant() {values = [1], dims = [4, 2]}\n%y, %ids = linear_k_best(%h4, %w) {k = 1}",
       {{-l2, -kInf, -kInf, -l2}, {0, 0, 0, 0}}},
      {"ensemble_k_best",
       "%y, %ids = ensemble_k_best(%h, %e, %h, %e) {k = 1, weights = [1, 0.5], "
       "transposed = [1, 1]}",
       {{1.5 * near_zero(10), 1.5 * near_zero(35), 1.5 * near_zero(10), 1.5 * near_zero(40)},
        {0, 4, 0, 4}}},
      // Each member is sure of its first word and 1000 from the others; the second counts twice.
      {"ensemble_k_best",
       "%b = constant() {values = [0, 1000, -1000], dims = [3]}\n"
       "%w = constant() {values = [0], dims = [1, 3]}\n"
       "%d = constant() {values = [0, -1000, 1000], dims = [3]}\n"
       "%y, %ids = ensemble_k_best(%h1, %w, %b, %h1, %w, %d) {k = 3, weights = [1, 2], "
       "biased = [1, 1]}",
       {{-2000, -3000, -4000, -2000, -3000, -4000, -2000, -3000, -4000, -2000, -3000, -4000},
        {2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1}}},
      // One member without probabilities is enough to have none.
      {"ensemble_k_best",
       "%w = constant() {values = [1], dims = [4, 2]}\n"
       "%flat = constant() {values = [0], dims = [2, 2]}\n"
       "%y, %ids = ensemble_k_best(%h4, %w, %h, %flat) {k = 2, weights = [2, 1]}",
       {{-3 * l2, -3 * l2, -kInf, -kInf, -kInf, -kInf, -3 * l2, -3 * l2},
        {0, 1, 0, 1, 0, 1, 0, 1}}},
  };
}

}  // namespace fuselage
