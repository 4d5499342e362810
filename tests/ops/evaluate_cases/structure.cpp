#include <cmath>

#include "tests/ops/evaluate_cases/cases.h"

namespace fuselage {
std::vector<EvaluateCase> structure_cases() {
  const double l2 = std::log(2.0);
  return {
      // One value fills all dimensions. Numbers are those of single precision, in double too.
      {"constant", "%y = constant() {values = [0.1], dims = [2, 2]}", {{0.1f, 0.1f, 0.1f, 0.1f}}},
      {"constant", "%y = constant() {values = [1, -2.5], dims = [2]}", {{1, -2.5}}},
      {"constant", "%y = constant() {values = [7]}", {{7}}},
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
      {"concat", "%y = concat(%h, %h1, %h)", {{1,  -2, 1, 1,  -2, 0.5, 3, 2, 0.5, 3,
                                               -1, 0,  3, -1, 0,  2,   2, 4, 2,   2}}},
      {"concat",
       "%a = constant() {values = [1, 2, 3, 4], dims = [2, 2]}\n"
       "%b = constant() {values = [5, 6], dims = [2, 1]}\n%y = concat(%a, %b)",
       {{1, 2, 5, 3, 4, 6}}},
      {"slice", "%y = slice(%x4) {begin = 1, end = 3}", {{2, 3, 6, 7, 10, 11}}},
      {"slice", "%y = slice(%h22) {begin = 1, end = 2}", {{2, 4, 6, 8, 10, 12, 14, 16}}},
      {"slice_leading", "%y = slice_leading(%m) {begin = 1, end = 2}", {{4, 5, 6}}},
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
  };
}

}  // namespace fuselage
