#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/graph/graph.h"

namespace FUSELAGE_API fuselage {

namespace op {

/// The k largest elements of x W + b and their indexes, as log-probabilities if log_softmax is set;
/// operands x, W and optionally b. With `normalizer` there is a third result, the row's log sum
/// exp, by which other log-probabilities of the row follow from their logits.
struct LinearKBest {
  static constexpr std::string_view kName = "linear_k_best";
  std::int64_t k = 0;
  bool transposed = false;
  bool log_softmax = true;
  bool normalizer = false;
  static constexpr auto attributes() {
    return std::tuple(required("k", &LinearKBest::k),
                      defaulted("transposed", &LinearKBest::transposed),
                      defaulted("log_softmax", &LinearKBest::log_softmax),
                      defaulted("normalizer", &LinearKBest::normalizer));
  }
};

/// As LinearKBest, restricted to a shortlist: `to` maps pairs to their row, `words` maps them to
/// words.
struct ShortlistKBest {
  static constexpr std::string_view kName = "shortlist_k_best";
  std::int64_t k = 0;
  MapPath to;
  MapPath words;
  bool transposed = false;
  bool log_softmax = true;
  static constexpr auto attributes() {
    return std::tuple(required("k", &ShortlistKBest::k), required("to", &ShortlistKBest::to),
                      required("words", &ShortlistKBest::words),
                      defaulted("transposed", &ShortlistKBest::transposed),
                      defaulted("log_softmax", &ShortlistKBest::log_softmax));
  }
};

/// Single elements of x W + b, one for each pair of a row and a word; operands x, W and optionally
/// b. Known as a sampled dense-dense matrix product (SDDMM).
struct SampledMatmul {
  static constexpr std::string_view kName = "sampled_matmul";
  MapPath to;
  MapPath words;
  bool transposed = false;
  static constexpr auto attributes() {
    return std::tuple(required("to", &SampledMatmul::to), required("words", &SampledMatmul::words),
                      defaulted("transposed", &SampledMatmul::transposed));
  }
};

/// The k largest elements of the weighted sum of several models' log-probabilities. `biased` and
/// `transposed` have 0 or 1 per model; empty: all 0.
struct EnsembleKBest {
  static constexpr std::string_view kName = "ensemble_k_best";
  std::int64_t k = 0;
  std::vector<double> weights;
  Dims biased;
  Dims transposed;
  static constexpr auto attributes() {
    return std::tuple(required("k", &EnsembleKBest::k),
                      required("weights", &EnsembleKBest::weights),
                      defaulted("biased", &EnsembleKBest::biased),
                      defaulted("transposed", &EnsembleKBest::transposed));
  }
};

/// Whether an output layer gives log-probabilities or logits.
struct Scores {
  bool log_softmax = true;
  static constexpr auto attributes() {
    return std::tuple(defaulted("log_softmax", &Scores::log_softmax));
  }
};

/// The number k of results that an op selects.
struct BestCount {
  std::int64_t k = 0;
  static constexpr auto attributes() { return std::tuple(required("k", &BestCount::k)); }
};

/// The shortlist of each row: the map from pairs to their row, and the path to their words.
struct ShortlistWords {
  MapPath to;
  MapPath words;
  static constexpr auto attributes() {
    return std::tuple(required("to", &ShortlistWords::to),
                      required("words", &ShortlistWords::words));
  }
};

}  // namespace op

/// Fused output layers.
std::span<const OpDef> output_ops();

/// The operand numbers of a member of an ensemble_k_best node, and its weight.
struct MemberOperands {
  double weight = 1;
  bool transposed = false;
  std::size_t x = 0;
  std::size_t w = 0;
  std::optional<std::size_t> bias;
};

/// The members of an ensemble_k_best node, by its attributes.
std::vector<MemberOperands> ensemble_members(const op::EnsembleKBest& ensemble);

}  // namespace fuselage
