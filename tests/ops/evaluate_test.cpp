// Each op's reference evaluation, in both precisions, on values small enough to check by hand.

#include "fuselage/ops/evaluate.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <set>

#include "ops/philox.h"
#include "tests/ops/evaluation.h"

namespace fuselage {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

const Inputs& inputs() {
  static const Inputs values{
      {"v", {10, -1}},
      {"v4", {1, 2, 3, 4}},
      {"m", {1, 2, 3, 4, 5, 6}},
      {"e", {0, 1, 10, 11, 20, 21, 30, 31, 40, 41}},
      {"ranks", {4, 0, 1, 3, 2}},
      {"h", {1, -2, 0.5, 3, -1, 0, 2, 2}},
      {"h1", {1, 2, 3, 4}},
      {"h4", {3, 1, 3, 2, kNaN, 5, -kInf, 5, kNaN, -7, kNaN, kNaN, -1, -2, -3, -4}},
      {"h5", {1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, -1}},
      {"h22", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
      {"hs", {1, 2, 3, 4}},
      {"hi", {0, 1, 2, 3}},
      {"p", {10, 11, 20, 21, 30, 31}},
      {"sent", {100, 101, 200, 201, 300, 301}},
      {"x", {1, 2, 3, 4, 5, 6}},
      {"x4", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
      {"f", {1, 2, 3, 4}},
      {"c", {0, 1, 0, 3, 0.25, 0, 0.75, 2, -5, 7}},
      {"c4", {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1}},
      {"d4", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}},
  };
  return values;
}

struct Case {
  const char* op;
  std::string equation;  ///< a line over kInputs that ends in the node "%y = …"
  std::vector<std::vector<double>> expected;  ///< one list a result
  double tolerance = 1e-12;                   ///< relative, of the double evaluation
};

/// A line for the random number `number`.
std::string u(double number) {
  return fmt::format("%u = constant() {{values = [{}], dims = [1]}}\n", number);
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

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

double phi(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

/// The largest of five log-probabilities whose logits are equally far apart.
double near_zero(double gap) {
  double others = 0;
  for (int i = 1; i < 5; ++i) others += std::exp(-gap * i);
  return -std::log1p(others);
}

std::vector<double> of_h(double (*f)(double)) {
  std::vector<double> result;
  for (const double x : inputs().at("h")) result.push_back(f(x));
  return result;
}

/// A function of what is far on either side, and of 0.
std::string far_out(const std::string& op) {
  return "%b = constant() {values = [-1000, 1000, 0], dims = [3]}\n%y = " + op + "(%b)";
}

/// The start of a case about a vector with NaN.
const std::string kWithNaN = "%b = constant() {values = [nan, 1, 0, nan], dims = [4]}\n%y = ";

const std::vector<Case>& cases() {
  const double e1 = std::exp(1.0);
  const double e2 = std::exp(-2.0);
  const double l2 = std::log(2.0);
  static const std::vector<Case> all{
      // One value fills all dimensions. Numbers are those of single precision, in double too.
      {"constant", "%y = constant() {values = [0.1], dims = [2, 2]}", {{0.1f, 0.1f, 0.1f, 0.1f}}},
      {"constant", "%y = constant() {values = [1, -2.5], dims = [2]}", {{1, -2.5}}},
      {"constant", "%y = constant() {values = [7]}", {{7}}},

      {"neg", "%y = neg(%h)", {{-1, 2, -0.5, -3, 1, 0, -2, -2}}},
      {"sigmoid", "%y = sigmoid(%h)", {of_h(logistic)}},
      {"sigmoid", far_out("sigmoid"), {{0, 1, 0.5}}},
      {"tanh", "%y = tanh(%h)", {of_h(std::tanh)}},
      {"sigmoid_fast", far_out("sigmoid_fast"), {{0, 1, 0.5}}, 1e-7},
      {"tanh_fast", far_out("tanh_fast"), {{-1, 1, 0}}, 1e-7},
      {"sigmoid_table", far_out("sigmoid_table"), {{0, 1, 0.5}}},
      {"tanh_table", far_out("tanh_table"), {{-1, 1, 0}}},
      {"relu", "%y = relu(%h)", {{1, 0, 0.5, 3, 0, 0, 2, 2}}},
      {"swish", "%y = swish(%h)", {of_h([](double x) { return x * logistic(x); })}},
      {"gelu", "%y = gelu(%h)", {of_h([](double x) { return x * phi(x); })}},
      {"exp", "%y = exp(%h)", {of_h(std::exp)}},
      {"log", "%y = log(%hs)", {{0, l2, std::log(3.0), 2 * l2}}},
      {"sqrt", "%y = sqrt(%hs)", {{1, std::sqrt(2.0), std::sqrt(3.0), 2}}},
      {"abs", "%y = abs(%h)", {{1, 2, 0.5, 3, 1, 0, 2, 2}}},

      // Without rows on either side, one element a row, and one element in all.
      {"add", "%y = add(%h, %v)", {{11, -3, 10.5, 2, 9, -1, 12, 1}}},
      {"add", "%y = add(%v, %h)", {{11, -3, 10.5, 2, 9, -1, 12, 1}}},
      {"add", "%y = add(%h, %hs)", {{2, -1, 2.5, 5, 2, 3, 6, 6}}},
      {"add", "%y = add(%h1, %h)", {{2, -1, 2.5, 5, 2, 3, 6, 6}}},
      {"add", "%y = add(%hs, %v)", {{11, 0, 12, 1, 13, 2, 14, 3}}},
      {"add", "%y = add(%v, %v)", {{20, -2}}},
      {"sub", "%y = sub(%h, %v)", {{-9, -1, -9.5, 4, -11, 1, -8, 3}}},
      {"sub", "%y = sub(%s, %h)", {{1, 4, 1.5, -1, 3, 2, 0, 0}}},
      {"mul", "%y = mul(%h, %h)", {{1, 4, 0.25, 9, 1, 0, 4, 4}}},
      {"mul", "%y = mul(%hs, %s)", {{2, 4, 6, 8}}},
      {"div", "%y = div(%v, %h1)", {{10, -1, 5, -0.5, 10.0 / 3, -1.0 / 3, 2.5, -0.25}}},
      {"div", "%y = div(%h, %s)", {{0.5, -1, 0.25, 1.5, -0.5, 0, 1, 1}}},
      {"max", "%y = max(%h, %s)", {{2, 2, 2, 3, 2, 2, 2, 2}}},
      {"min", "%y = min(%h, %s)", {{1, -2, 0.5, 2, -1, 0, 2, 2}}},

      {"sin", "%y = sin(%h)", {of_h(std::sin)}},
      {"cos", "%y = cos(%h)", {of_h(std::cos)}},
      // Rows [1, -2], [0.5, 3], [-1, 0] and [2, 2].
      {"equal", "%y = equal(%h, %s)", {{0, 0, 0, 0, 0, 0, 1, 1}}},
      {"not_equal", "%y = not_equal(%h, %s)", {{1, 1, 1, 1, 1, 1, 0, 0}}},
      {"less", "%y = less(%h, %s)", {{1, 1, 1, 0, 1, 1, 0, 0}}},
      {"less_equal", "%y = less_equal(%h, %s)", {{1, 1, 1, 0, 1, 1, 1, 1}}},
      {"greater", "%y = greater(%h, %s)", {{0, 0, 0, 1, 0, 0, 0, 0}}},
      {"greater_equal", "%y = greater_equal(%s, %h)", {{1, 1, 1, 0, 1, 1, 1, 1}}},
      // NaN, as the first and the fourth number of this constant, is unequal to all numbers.
      {"equal", kWithNaN + "equal(%b, %b)", {{0, 1, 1, 0}}},
      {"not_equal", kWithNaN + "not_equal(%b, %b)", {{1, 0, 0, 1}}},
      {"less", kWithNaN + "less(%b, %s)", {{0, 1, 1, 0}}},
      {"less_equal", kWithNaN + "less_equal(%b, %s)", {{0, 1, 1, 0}}},
      {"greater", kWithNaN + "greater(%s, %b)", {{0, 1, 1, 0}}},
      {"greater_equal", kWithNaN + "greater_equal(%s, %b)", {{0, 1, 1, 0}}},
      {"where", "%y = where(%h, %v, %s)", {{10, -1, 10, -1, 10, 2, 10, -1}}},
      {"where", "%y = where(%hs, %h, %s)", {{1, -2, 0.5, 3, -1, 0, 2, 2}}},
      {"where", kWithNaN + "where(%b, %s, %v4)", {{2, 2, 3, 2}}},

      {"reduce_sum", "%y = reduce_sum(%x4)", {{10, 26, 42}}},
      {"reduce_sum", "%y = reduce_sum(%h22)", {{3, 7, 11, 15, 19, 23, 27, 31}}},
      {"reduce_sum", "%y = reduce_sum(%h1)", {{1, 2, 3, 4}}},
      {"reduce_max", "%y = reduce_max(%h)", {{1, 3, 0, 2}}},
      {"reduce_max", "%y = reduce_max(%h4)", {{3, kNaN, kNaN, -1}}},
      {"reduce_max", "%y = reduce_max(%m)", {{3, 6}}},
      {"reduce_mean", "%y = reduce_mean(%x4)", {{2.5, 6.5, 10.5}}},
      {"reduce_mean", "%y = reduce_mean(%m)", {{2, 5}}},
      // [1, 2; 3, 4] squared, and times its transpose; the first row of %h22.
      {"batch_matmul",
       "%k = constant() {values = [1, 2, 3, 4], dims = [2, 2]}\n%y = batch_matmul(%h22, %k)",
       {{7, 10, 15, 22, 23, 34, 31, 46, 39, 58, 47, 70, 55, 82, 63, 94}}},
      {"batch_matmul",
       "%k = constant() {values = [1, 2, 3, 4], dims = [2, 2]}\n"
       "%y = batch_matmul(%k, %h22) {transposed = true}",
       {{5, 11, 11, 25, 17, 23, 39, 53, 29, 35, 67, 81, 41, 47, 95, 109}}},
      {"batch_matmul", "%y = batch_matmul(%m, %m) {transposed = true}", {{14, 32, 32, 77}}},
      // Two products of 1 × 2 by 2 × 1.
      {"batch_matmul",
       "%a = reshape(%v4) {dims = [2, 1, 2]}\n%b = reshape(%x4) {dims = [2, 2, 1]}\n"
       "%y = batch_matmul(%a, %b)",
       {{5, 25, 17, 53, 29, 81}}},
      {"expand", "%y = expand(%h1) {dims = [2]}", {{1, 1, 2, 2, 3, 3, 4, 4}}},
      {"expand", "%y = expand(%s) {dims = [2, 2]}", {{2, 2, 2, 2}}},
      {"expand",
       "%t = reshape(%v) {dims = [2, 1]}\n%y = expand(%t) {dims = [2, 2, 3]}",
       {{10, 10, 10, -1, -1, -1, 10, 10, 10, -1, -1, -1}}},
      {"permute", "%y = permute(%m) {order = [1, 0]}", {{1, 4, 2, 5, 3, 6}}},
      {"permute",
       "%t = reshape(%x4) {dims = [2, 1, 2]}\n%y = permute(%t) {order = [2, 1, 0]}",
       {{1, 3, 2, 4, 5, 7, 6, 8, 9, 11, 10, 12}}},
      {"permute", "%y = permute(%s) {order = []}", {{2}}},
      {"reshape", "%y = reshape(%m) {dims = [3, 2]}", {{1, 2, 3, 4, 5, 6}}},
      {"reduce_sum",
       "%t = reshape(%x4) {dims = [2, 2]}\n%y = reduce_sum(%t)",
       {{3, 7, 11, 15, 19, 23}}},

      {"matmul", "%y = matmul(%h, %m)", {{-7, -8, -9, 12.5, 16, 19.5, -1, -2, -3, 10, 14, 18}}},
      // A weight without rows is multiplied at load time.
      {"matmul", "%y = matmul(%v, %m)", {{6, 15, 24}}},
      // A row per vocabulary entry is a row of the matrix.
      {"matmul",
       "%y = matmul(%h, %e) {transposed = true}",
       {{-2, -12, -22, -32, -42, 3, 38, 73, 108, 143, 0, -10, -20, -30, -40, 2, 42, 82, 122, 162}}},
      {"matmul", "%y = matmul(%h5, %e)", {{0, 1, 50, 52, 100, 105, -40, -41}}},
      // Leading dimensions are further rows.
      {"matmul",
       "%w = constant() {values = [1, 10, 100, 1000], dims = [2, 2]}\n%y = matmul(%h22, %w)",
       {{201, 2010, 403, 4030, 605, 6050, 807, 8070, 1009, 10090, 1211, 12110, 1413, 14130, 1615,
         16150}}},

      // Mean 2.5 and variance 1.25 in each row of x4.
      {"layer_norm",
       "%y = layer_norm(%x4, %v4) {epsilon = 0.19}",
       {{-1.25, -5.0 / 6, 1.25, 5, -1.25, -5.0 / 6, 1.25, 5, -1.25, -5.0 / 6, 1.25, 5}}},
      {"layer_norm",
       "%y = layer_norm(%x4, %v4, %v4) {epsilon = 0.19}",
       {{-0.25, 7.0 / 6, 4.25, 9, -0.25, 7.0 / 6, 4.25, 9, -0.25, 7.0 / 6, 4.25, 9}}},
      {"add_layer_norm",
       "%y, %sum = add_layer_norm(%x4, %s, %v4, %v4) {epsilon = 0.19}",
       {{-0.25, 7.0 / 6, 4.25, 9, -0.25, 7.0 / 6, 4.25, 9, -0.25, 7.0 / 6, 4.25, 9},
        {3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}}},
      // Mean squares 2.5, 4.625, 0.5 and 4.
      {"rms_norm",
       "%y = rms_norm(%h, %v) {epsilon = 0.5}",
       {{10 / std::sqrt(3.0), 2 / std::sqrt(3.0), 5 / std::sqrt(5.125), -3 / std::sqrt(5.125), -10,
         0, 20 / std::sqrt(4.5), -2 / std::sqrt(4.5)}}},
      {"add_rms_norm",
       "%y, %sum = add_rms_norm(%h, %h, %v) {epsilon = 2}",
       {{10 / std::sqrt(3.0), 2 / std::sqrt(3.0), 5 / std::sqrt(5.125), -3 / std::sqrt(5.125), -10,
         0, 20 / std::sqrt(4.5), -2 / std::sqrt(4.5)},
        {2, -4, 1, 6, -2, 0, 4, 4}}},

      {"softmax",
       "%y = softmax(%h)",
       {{logistic(3), logistic(-3), logistic(-2.5), logistic(2.5), logistic(-1), logistic(1), 0.5,
         0.5}}},
      // Large scores do not overflow.
      {"softmax",
       "%b = constant() {values = [1000, 999, 0], dims = [3]}\n%y = softmax(%b)",
       {{logistic(1), logistic(-1), 0}}},
      {"log_softmax",
       "%y = log_softmax(%h)",
       {{-std::log1p(std::exp(-3.0)), -3 - std::log1p(std::exp(-3.0)),
         -2.5 - std::log1p(std::exp(-2.5)), -std::log1p(std::exp(-2.5)), -1 - std::log1p(1 / e1),
         -std::log1p(1 / e1), -l2, -l2}}},
      {"log_softmax",
       "%b = constant() {values = [1000, 998], dims = [2]}\n%y = log_softmax(%b)",
       {{-std::log1p(e2), -2 - std::log1p(e2)}}},

      {"concat", "%y = concat(%h, %h1, %h)", {{1,  -2, 1, 1,  -2, 0.5, 3, 2, 0.5, 3,
                                               -1, 0,  3, -1, 0,  2,   2, 4, 2,   2}}},
      {"concat",
       "%a = constant() {values = [1, 2, 3, 4], dims = [2, 2]}\n"
       "%b = constant() {values = [5, 6], dims = [2, 1]}\n%y = concat(%a, %b)",
       {{1, 2, 5, 3, 4, 6}}},
      {"slice", "%y = slice(%x4) {begin = 1, end = 3}", {{2, 3, 6, 7, 10, 11}}},
      {"slice", "%y = slice(%h22) {begin = 1, end = 2}", {{2, 4, 6, 8, 10, 12, 14, 16}}},
      {"slice_leading", "%y = slice_leading(%m) {begin = 1, end = 2}", {{4, 5, 6}}},
      // 2 / 127 and 3 / 127 are no floats.
      {"quantize", "%y = quantize(%h)", {{64 * 2 / 127., -2, 21 * 3 / 127., 3, -1, 0, 2, 2}}, 1e-7},
      {"quantize", "%y = quantize(%h) {vectors = 2}", {{1, -2, 0.5, 3, -1, 0, 2, 2}}, 1e-7},
      {"quantize",
       "%y = quantize(%h4) {largest = 1}",
       {{3, 0, 3, 3, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, 0, 0, -4, -4}}},
      {"quantize",
       "%y = quantize(%m) {to = qint16, largest = 10, largest_sum = 9}",
       {{0.8, 1.6, 3.2, 4, 4, 6}},
       1e-6},
      {"quantize", "%y = quantize(%h, %s)", {{0, -2, 0, 4, 0, 0, 2, 2}}},
      {"quantize", "%y = quantize(%m, %s) {to = qlog4, largest = 128}", {{2, 2, 4, 4, 4, 8}}},
      {"quantize",
       "%y = quantize(%h) {largest = 64, logarithmic = true}",
       {{1, -2, 0.375, 3, -1, 0, 2, 2}}},
      {"cast",
       "%k = constant() {values = [1.00390625, -1.01171875], dims = [2]}\n%y = cast(%k)",
       {{1, -1.015625}}},
      {"cast", "%b = cast(%m)\n%y = cast(%b) {to = f32}", {{1, 2, 3, 4, 5, 6}}},
      {"cast", "%y = cast(%hi) {to = f32}", {{0, 1, 2, 3}}},
      {"dequantize", "%q = quantize(%h, %s)\n%y = dequantize(%q)", {{0, -2, 0, 4, 0, 0, 2, 2}}},
      {"transpose", "%y = transpose(%m)", {{1, 4, 2, 5, 3, 6}}},
      {"matmul",
       "%q = quantize(%h, %s)\n%w = quantize(%e, %s)\n%y = matmul(%q, %w) {transposed = true}",
       {{0, -24, -40, -64, -80, 0, 48, 80, 128, 160, 0, 0, 0, 0, 0, 0, 44, 80, 124, 160}}},
      {"slice_leading",
       "%y = slice_leading(%h22) {begin = 1, end = 2}",
       {{3, 4, 7, 8, 11, 12, 15, 16}}},

      {"select_rows",
       "%y = select_rows(%p) {via = [hyp.parent]}",
       {{20, 21, 20, 21, 10, 11, 30, 31}}},
      {"select_rows",
       "%y = select_rows(%sent) {via = [hyp.parent, parent.sentence]}",
       {{100, 101, 100, 101, 200, 201, 300, 301}}},
      {"select_rows",
       "%y = select_rows(%e) {via = [cross.right, source.word]}",
       {{10, 11, 0, 1, 10, 11, 0, 1, 30, 31}}},
      // The second hypothesis has no word yet.
      {"select_rows", "%y = select_rows(%e) {via = [hyp.word]}", {{20, 21, 0, 0, 40, 41, 0, 1}}},
      {"select_rows",
       "%y = select_rows(%e, %v) {via = [hyp.word]}",
       {{20, 21, 10, -1, 40, 41, 0, 1}}},
      {"select_rows",
       "%y = select_rows(%e, %v) {via = [cross.left, hyp.word]}",
       {{20, 21, 20, 21, 10, -1, 10, -1, 40, 41}}},

      // Column by column; the last hypothesis has no pairs, and one pair has all the weight.
      {"segment_softmax",
       "%y = segment_softmax(%c) {to = [cross.left]}",
       {{0.5, logistic(-2), 0.5, logistic(2), logistic(-0.5), logistic(-2), logistic(0.5),
         logistic(2), 1, 1}}},
      {"segment_softmax",
       "%y = segment_softmax(%x) {to = [source.sentence]}",
       {{logistic(-2), logistic(-2), logistic(2), logistic(2), 1, 1}}},

      {"segment_log_softmax",
       "%y = segment_log_softmax(%c) {to = [cross.left]}",
       {{-l2, std::log(logistic(-2)), -l2, std::log(logistic(2)), std::log(logistic(-0.5)),
         std::log(logistic(-2)), std::log(logistic(0.5)), std::log(logistic(2)), 0, 0}}},

      // Two heads of two columns; nothing is mixed for the last hypothesis.
      {"mix_rows",
       "%y = mix_rows(%c, %x4) {to = [cross.left], via = [cross.right]}",
       {{0, 0, 24, 28, 4, 5, 14, 16, -45, -50, 77, 84, 0, 0, 0, 0}}},
      // What a partial path does not reach counts nothing.
      {"mix_rows",
       "%y = mix_rows(%c, %e) {to = [cross.left], via = [cross.left, hyp.word]}",
       {{0, 84, 0, 0, -200, 287, 0, 0}}},
      {"mean_rows",
       "%y = mean_rows(%x4) {to = [source.sentence]}",
       {{3, 4, 5, 6, 9, 10, 11, 12, 0, 0, 0, 0}}},
      {"mean_rows", "%y = mean_rows(%c) {to = [cross.left]}", {{0, 2, 0.5, 1, -5, 7, 0, 0}}},

      {"sum_rows",
       "%y = sum_rows(%x4) {to = [source.sentence]}",
       {{6, 8, 10, 12, 9, 10, 11, 12, 0, 0, 0, 0}}},
      {"sum_rows", "%y = sum_rows(%c) {to = [cross.left]}", {{0, 4, 1, 2, -5, 7, 0, 0}}},
      {"max_rows", "%y = max_rows(%c) {to = [cross.left]}", {{0, 3, 0.75, 2, -5, 7, -kInf, -kInf}}},
      {"max_rows",
       "%k = constant() {values = [nan]}\n%n = add(%c, %k)\n"
       "%y = max_rows(%n) {to = [cross.left]}",
       {{kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, -kInf, -kInf}}},
      {"segment_log_sum_exp",
       "%y = segment_log_sum_exp(%c) {to = [cross.left]}",
       {{l2, 3 - std::log(logistic(2)), 0.75 - std::log(logistic(0.5)), 2 - std::log(logistic(2)),
         -5, 7, -kInf, -kInf}}},
      {"segment_log_sum_exp",
       "%k = constant() {values = [-inf]}\n%n = add(%x, %k)\n"
       "%y = segment_log_sum_exp(%n) {to = [source.sentence]}",
       {{-kInf, -kInf, -kInf, -kInf, -kInf, -kInf}}},

      {"head_dot",
       "%y = head_dot(%c4, %d4) {heads = 2, scale = 0.5}",
       {{0.5, 0, 3, 0, 0, 5.5, 0, 8, 17.5, 19.5}}},
      {"head_dot", "%y = head_dot(%c4, %d4) {heads = 1}", {{1, 6, 11, 16, 74}}},
      {"head_dot",
       "%y = head_dot(%v4, %d4) {heads = 4}",
       {{1, 4, 9, 16, 5, 12, 21, 32, 9, 20, 33, 48, 13, 28, 45, 64, 17, 36, 57, 80}}},

      {"position", "%y = position() {domain = source}", {{0, 1, 0}}},
      {"input",
       "input frames : source f32[2]\n%y = input() {name = \"frames\"}",
       {{1, 2, 3, 4, 5, 6}}},
      {"position", "%y = position() {domain = hyp}", {{3, 3, 0, 7}}},
      // The pairs (1, 3), (2, 4), …: the second is turned by a right angle.
      {"rotary",
       "%cos = constant() {values = [1, 0], dims = [2]}\n"
       "%sin = constant() {values = [0, 1], dims = [2]}\n%y = rotary(%x4, %cos, %sin)",
       {{1, -4, 3, 2, 5, -8, 7, 6, 9, -12, 11, 10}}},
      {"rotary",
       "%cos = constant() {values = [2], dims = [1]}\n"
       "%sin = constant() {values = [10], dims = [1]}\n%y = rotary(%x4, %cos, %sin) {heads = 2}",
       {{-18, 14, -34, 38, -50, 62, -66, 86, -82, 110, -98, 134}}},
      // Frequencies 1, 1/100 and 1/10000; angles are rounded to single precision.
      {"sinusoid",
       "%y = sinusoid(%hi) {dim = 6}",
       {{0,
         0,
         0,
         1,
         1,
         1,  //
         std::sin(1.0),
         std::sin(0.01),
         std::sin(1e-4),
         std::cos(1.0),
         std::cos(0.01),
         std::cos(1e-4),  //
         std::sin(2.0),
         std::sin(0.02),
         std::sin(2e-4),
         std::cos(2.0),
         std::cos(0.02),
         std::cos(2e-4),  //
         std::sin(3.0),
         std::sin(0.03),
         std::sin(3e-4),
         std::cos(3.0),
         std::cos(0.03),
         std::cos(3e-4)}},
       1e-6},

      // Ties go to the lower index; NaN counts as the lowest of all and comes back as such.
      {"k_best",
       "%y, %ids = k_best(%h4) {k = 3}",
       {{3, 3, 2, 5, 5, -kInf, -7, -kInf, -kInf, -1, -2, -3},
        {0, 2, 3, 1, 3, 0, 1, 0, 2, 0, 1, 2}}},
      {"k_best", "%y, %ids = k_best(%h4) {k = 1}", {{3, 5, -7, -1}, {0, 1, 1, 0}}},
      {"dot_attention",
       "%y, %mixed = dot_attention(%h, %x, %x4) "
       "{left = [cross.left], right = [cross.right], heads = 2, scale = 0.5}",
       {{0.2689414213699951, 0.8807970779778823, 0.7310585786300049, 0.11920292202211755,
         0.37754066879814546, 0.04742587317756679, 0.6224593312018546, 0.9525741268224334, 1.0,
         1.0},
        {3.9242343145200196, 4.92423431452002, 3.47681168808847, 4.476811688088469,
         3.4898373248074184, 4.489837324807419, 6.810296507289734, 7.810296507289734, 9.0, 10.0,
         11.0, 12.0, 0.0, 0.0, 0.0, 0.0}}},
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
      {"k_best", "%y, %ids = k_best(%v4) {k = 4}", {{4, 3, 2, 1}, {3, 2, 1, 0}}},

      {"log_sum_exp",
       "%b = constant() {values = [1000, 998], dims = [2]}\n%y = log_sum_exp(%b)",
       {{1000 + std::log1p(e2)}}},
      {"log_sum_exp",
       "%b = constant() {values = [-inf, -inf], dims = [2]}\n%y = log_sum_exp(%b)",
       {{-kInf}}},

      // The number 0 … 3 of a stream of the key 0x0004000300020001.
      {"uniform",
       "%s1234 = constant() {values = [1, 2, 3, 4], dims = [4]}\n%y = uniform(%s1234, %hi)",
       {{uniform_number(0x0004000300020001, 0), uniform_number(0x0004000300020001, 1),
         uniform_number(0x0004000300020001, 2), uniform_number(0x0004000300020001, 3)}}},

      // Of the probabilities 0.40, 0.05, 0.40, 0.15 the first sum above u; NaN gives nothing.
      {"sample", u(0.5) + "%y, %ids = sample(%h4, %u)", {{3, -kInf, -kInf, -1}, {2, -1, -1, 0}}},
      {"sample", u(0.99) + "%y, %ids = sample(%h4, %u)", {{2, -kInf, -kInf, -4}, {3, -1, -1, 3}}},
      {"sample",
       u(0.4) + "%y, %ids = sample(%h4, %u) {excluded = [0, 2]}",
       {{2, 5, -kInf, -2}, {3, 1, -1, 1}}},
      {"sample",
       u(0.6) + "%y, %ids = sample(%h4, %u) {top_p = 0.5}",
       {{3, -kInf, -kInf, -1}, {2, -1, -1, 0}}},
      // A tie at the edge of the nucleus goes to the lower index.
      {"sample",
       u(0.999) + "%y, %ids = sample(%h4, %u) {top_p = 0.3}",
       {{3, -kInf, -kInf, -1}, {0, -1, -1, 0}}},
      {"sample",
       u(0.999) + "%y, %ids = sample(%h4, %u) {epsilon = 0.2}",
       {{3, -kInf, -kInf, -2}, {2, -1, -1, 1}}},
      // The most probable word stays.
      {"sample",
       u(0.999) + "%y, %ids = sample(%h4, %u) {epsilon = 0.9}",
       {{3, -kInf, -kInf, -1}, {0, -1, -1, 0}}},
      {"sample",
       u(0.999) + "%y, %ids = sample(%h4, %u) {temperature = 0.1}",
       {{3, -kInf, -kInf, -1}, {2, -1, -1, 0}}},
      {"sample",
       u(0.4) + "%b, %i = k_best(%h4) {k = 3}\n"
                "%y, %ids = sample(%b, %u, %i) {top_k = 2, excluded = [0]}",
       {{3, 5, -7, -2}, {2, 1, 1, 1}}},
      {"sample",
       u(0.999) + "%b, %i = k_best(%h4) {k = 3}\n%y, %ids = sample(%b, %u, %i) {top_k = 2}",
       {{3, 5, -7, -2}, {2, 3, 1, 1}}},

      // The words of the pairs are 1 and 0, 1 and 0, and 3; the last hypothesis has no pairs.
      {"select_elements",
       "%y = select_elements(%h5) {row = [cross.left], element = [cross.right, source.word]}",
       {{0, 1, 1, 0, 1}}},
      {"select_elements",
       "%y = select_elements(%h5) {row = [cross.left], element = [cross.left, hyp.word]}",
       {{0, 0, 0, 0, 1}}},
      {"row_number", "%y = row_number() {via = [cross.right, source.word]}", {{1, 0, 1, 0, 3}}},
      {"penalize_repeats",
       "%n = row_number() {via = [source.word]}\n%z = sub(%h5, %s)\n"
       "%y = penalize_repeats(%z, %n) {to = [cross.left], via = [cross.right], penalty = 3}",
       {{-3, -6, -2, -2, -2, -6, -3, -2, -2, -1, -1, -1, -1, -3, -1, -2, -2, -2, -2, -3}}},
      {"penalize_repeats",
       "%n = row_number() {via = [source.word]}\n%z = add(%h5, %s)\n"
       "%y = penalize_repeats(%z, %n) {to = [cross.left], via = [cross.right], penalty = 2}",
       {{1.5, 1, 2, 2, 2, 1, 1.5, 2, 2, 3, 3, 3, 3, 1.5, 3, 2, 2, 2, 2, 1}}},
      {"penalize_repeats",
       "%n = row_number() {via = [source.word]}\n"
       "%y = penalize_repeats(%h5, %n) {to = [cross.left], via = [cross.right], penalty = 2, "
       "ngram = 1}",
       {{-kInf, -kInf, 0, 0, 0, -kInf, -kInf, 0, 0, 1, 1, 1, 1, -kInf, 1, 0, 0, 0, 0, -1}}},
      // The pairs of a row and a listed word are those of its text, in the reverse order.
      {"segment_penalize_repeats",
       "%n = row_number() {via = [source.word]}\n%z = slice(%c) {begin = 1, end = 2}\n"
       "%y = segment_penalize_repeats(%z, %n) {row = [cross.left], listed = [cross.right, "
       "source.word], to = [cross.left], via = [cross.right], penalty = 4}",
       {{0.25, 0.75, 0, 0.5, 1.75}}},
      {"segment_penalize_repeats",
       "%n = row_number() {via = [source.word]}\n%z = slice(%c) {begin = 1, end = 2}\n"
       "%y = segment_penalize_repeats(%z, %n) {row = [cross.left], listed = [cross.right, "
       "source.word], to = [cross.left], via = [cross.right], ngram = 1}",
       {{-kInf, -kInf, -kInf, -kInf, -kInf}}},
      {"segment_k_best",
       "%n = slice(%c) {begin = 1, end = 2}\n%y, %ids = segment_k_best(%n) {k = 2, "
       "to = [cross.left], words = [cross.right, source.word]}",
       {{3, 1, 2, 0, 7, -kInf, -kInf, -kInf}, {0, 1, 0, 1, 3, -1, -1, -1}}},
      {"segment_k_best",
       "%n = select_rows(%h1) {via = [cross.left]}\n%y, %ids = segment_k_best(%n) {k = 1, "
       "to = [cross.left], words = [cross.right]}",
       {{1, 2, 3, -kInf}, {0, 0, 2, -1}}},
      {"segment_sample",
       u(0.5) + "%n = slice(%c) {begin = 1, end = 2}\n%y, %ids = segment_sample(%n, %u) "
                "{to = [cross.left], words = [cross.right, source.word]}",
       {{3, 2, 7, -kInf}, {0, 0, 3, -1}}},
      {"segment_sample",
       u(0.5) + "%n = slice(%c) {begin = 1, end = 2}\n%y, %ids = segment_sample(%n, %u) {to = "
                "[cross.left], words = [cross.right, source.word], excluded = [0]}",
       {{1, 0, 7, -kInf}, {1, 1, 3, -1}}},
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
  return all;
}

template <typename T>
void expect_values(const Case& test, double tolerance) {
  SCOPED_TRACE(test.equation);
  const Graph graph = graph_of(std::string(kInputs) + test.equation + "\n");
  const NodeId node = node_named(graph, "y");
  EXPECT_EQ(graph.node(node).op->name, test.op);
  const auto results = evaluate<T>(graph, test_rows(graph), inputs(), node);
  ASSERT_EQ(results.size(), test.expected.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    ASSERT_EQ(results[i].data.size(), test.expected[i].size());
    for (std::size_t k = 0; k < results[i].data.size(); ++k) {
      const double actual = results[i].data[k];
      const double expected = test.expected[i][k];
      if (actual == expected || (std::isnan(actual) && std::isnan(expected))) continue;
      EXPECT_NEAR(actual, expected, tolerance * std::max(1.0, std::abs(expected)))
          << "element " << k << " of result " << i;
    }
  }
}

TEST(Evaluate, GivesTheExpectedValuesInFloatAndDouble) {
  for (const Case& test : cases()) {
    expect_values<double>(test, test.tolerance);
    expect_values<float>(test, 1e-6);
  }
}

TEST(Evaluate, EveryOpWithAReferenceIsCovered) {
  std::set<std::string_view> covered;
  for (const Case& test : cases()) covered.insert(test.op);
  for (const OpDef* def : all_ops().all())
    EXPECT_EQ(covered.contains(def->name), def->evaluate_f64 != nullptr)
        << def->name << ": add a case above";
}

TEST(Evaluate, SinusoidUsesAnglesOfSinglePrecision) {
  const Graph graph = graph_of(std::string(kInputs) + "%y = sinusoid(%hi) {dim = 256}\n");
  Inputs values = inputs();
  values["hi"] = {497, 0, 511, 3};
  const auto results = evaluate<double>(graph, test_rows(graph), values, node_named(graph, "y"));
  const std::vector<double> positions = values["hi"];
  for (std::int64_t r = 0; r < 4; ++r)
    for (std::int64_t i = 0; i < 128; ++i) {
      const double position = positions[static_cast<std::size_t>(r)];
      const double exact = position * std::pow(10000.0, -static_cast<double>(i) / 127);
      // Off by no more than the angle's rounding.
      EXPECT_NEAR(results[0].row(r)[i], std::sin(exact), 2e-6 * (1 + position)) << r << " " << i;
      EXPECT_NEAR(results[0].row(r)[128 + i], std::cos(exact), 2e-6 * (1 + position));
    }
  EXPECT_EQ(results[0].row(2)[0], static_cast<double>(std::sin(511.0f)));
}

}  // namespace
}  // namespace fuselage
