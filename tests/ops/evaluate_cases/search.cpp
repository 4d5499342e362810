#include <fmt/format.h>

#include <cmath>

#include "ops/search/philox.h"
#include "tests/ops/evaluate_cases/cases.h"

namespace fuselage {
namespace {

/// A line for the random number `number`.
std::string u(double number) {
  return fmt::format("%u = constant() {{values = [{}], dims = [1]}}\n", number);
}

}  // namespace

std::vector<EvaluateCase> search_cases() {
  return {
      // Ties go to the lower index; NaN counts as the lowest of all and comes back as such.
      {"k_best",
       "%y, %ids = k_best(%h4) {k = 3}",
       {{3, 3, 2, 5, 5, -kInf, -7, -kInf, -kInf, -1, -2, -3},
        {0, 2, 3, 1, 3, 0, 1, 0, 2, 0, 1, 2}}},
      {"k_best", "%y, %ids = k_best(%h4) {k = 1}", {{3, 5, -7, -1}, {0, 1, 1, 0}}},
      {"k_best", "%y, %ids = k_best(%v4) {k = 4}", {{4, 3, 2, 1}, {3, 2, 1, 0}}},

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
      {"row_number", "%y = row_number() {via = [hyp.word]}", {{2, -1, 4, 0}}},
      {"row_number", "%y = row_number() {via = [hyp.word], unmapped = 9}", {{2, 9, 4, 0}}},
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
      // The texts are 1 0, 1 0, 3 and nothing.
      {"penalize_repeats",
       "%n = row_number() {via = [source.word]}\n"
       "%y = penalize_repeats(%h5, %n) {to = [cross.left], via = [cross.right], forbidden = "
       "[0, 2, -1, 1, 0, 3, -1, 3, 0, -1, 4, -1, 0, 1, 0, 1, -1]}",
       {{1,     0, -kInf, -kInf, -kInf, 0, 1, -kInf, -kInf, -kInf,
         -kInf, 1, 1,     1,     -kInf, 0, 0, 0,     0,     -kInf}}},

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
  };
}

}  // namespace fuselage
