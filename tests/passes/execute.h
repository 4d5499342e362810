#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fuselage/base/tensor.h"
#include "fuselage/graph/graph.h"
#include "fuselage/ops/evaluate.h"
#include "fuselage/passes/lowering/split_by_binding_time.h"

namespace fuselage {

/// What each output was, after each step of a short search.
template <typename T>
using RunResults = std::map<std::string, std::vector<Array<T>>>;

/// Random weights for all parameters of a graph. `special` strews in zeros of both signs,
/// infinities, NaN and numbers that are almost zero.
TensorMap random_weights(const Graph& graph, std::uint64_t seed, bool special);

/// Runs a graph on random sentences through some steps with random choices, which depend on the
/// seed and the declared domains alone.
template <typename T>
RunResults<T> execute(const Graph& graph, const TensorMap& weights, std::uint64_t seed);

/// The same for the three programs of a graph, each fed with the outputs of those before it.
template <typename T>
RunResults<T> execute(const Programs& programs, const TensorMap& weights, std::uint64_t seed);

/// Where two traces differ by more than `tolerance` relative to the larger of 1 and the value, in
/// words; empty if nowhere. With a tolerance of 0 bits must agree, but for those of NaN.
template <typename T>
std::string difference(const RunResults<T>& a, const RunResults<T>& b, double tolerance);

}  // namespace fuselage
