#include <cmath>

#include "tests/ops/evaluate_cases/cases.h"

namespace fuselage {
namespace {

/// The start of a case about a vector with NaN.
const std::string kWithNaN = "%b = constant() {values = [nan, 1, 0, nan], dims = [4]}\n%y = ";

double phi(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

std::vector<double> of_h(double (*f)(double)) {
  std::vector<double> result;
  for (const double x : case_inputs().at("h")) result.push_back(f(x));
  return result;
}

/// A function of what is far on either side, and of 0.
std::string far_out(const std::string& op) {
  return "%b = constant() {values = [-1000, 1000, 0], dims = [3]}\n%y = " + op + "(%b)";
}

}  // namespace

std::vector<EvaluateCase> arithmetic_cases() {
  const double e1 = std::exp(1.0);
  const double e2 = std::exp(-2.0);
  const double l2 = std::log(2.0);
  return {
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

      // Mean squares 2.5, 4.625, 0.5 and 4.
      {"rms_norm",
       "%y = rms_norm(%h, %v) {epsilon = 0.5}",
       {{10 / std::sqrt(3.0), 2 / std::sqrt(3.0), 5 / std::sqrt(5.125), -3 / std::sqrt(5.125), -10,
         0, 20 / std::sqrt(4.5), -2 / std::sqrt(4.5)}}},
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
      {"matmul",
       "%q = quantize(%h, %s)\n%w = quantize(%e, %s)\n%y = matmul(%q, %w) {transposed = true}",
       {{0, -24, -40, -64, -80, 0, 48, 80, 128, 160, 0, 0, 0, 0, 0, 0, 44, 80, 124, 160}}},
      {"log_sum_exp",
       "%b = constant() {values = [1000, 998], dims = [2]}\n%y = log_sum_exp(%b)",
       {{1000 + std::log1p(e2)}}},
      {"log_sum_exp",
       "%b = constant() {values = [-inf, -inf], dims = [2]}\n%y = log_sum_exp(%b)",
       {{-kInf}}},
  };
}

}  // namespace fuselage
