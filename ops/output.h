#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "graph/graph.h"

namespace fuselage {

namespace op {

/// The k largest elements of x W + b and where they stand, as log-probabilities where log_softmax
/// is set; operands x, W and perhaps b.
struct LinearKBest {
  static constexpr std::string_view kName = "linear_k_best";
  std::int64_t k = 0;
  bool transposed = false;
  bool log_softmax = true;
  static constexpr auto attributes() {
    return std::tuple(required("k", &LinearKBest::k),
                      defaulted("transposed", &LinearKBest::transposed),
                      defaulted("log_softmax", &LinearKBest::log_softmax));
  }
};

/// The same among the words to which `words` leads from the pairs of a row (`to`).
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

/// The k largest elements of the weighted sum of several models' log-probabilities. `biased` and
/// `transposed` have 0 or 1 for each weight, or are empty for 0 throughout.
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

/// Number of the best that an op gives.
struct BestCount {
  std::int64_t k = 0;
  static constexpr auto attributes() { return std::tuple(required("k", &BestCount::k)); }
};

/// The words of each row's shortlist: the map from pairs to their row, and the path to their words.
struct ShortlistWords {
  MapPath to;
  MapPath words;
  static constexpr auto attributes() {
    return std::tuple(required("to", &ShortlistWords::to),
                      required("words", &ShortlistWords::words));
  }
};

}  // namespace op

/// Output layers as one node.
std::span<const OpDef> output_ops();

/// Where the operands of a member of an ensemble_k_best node stand, and what its scores count for.
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
