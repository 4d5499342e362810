#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fuselage/backends/batch.h"
#include "fuselage/graph/graph.h"

namespace fuselage {

/// A valid graph with all row-wise ops, attention, loops over source positions in both directions
/// and a decoder step with states, put together at random. It also has what passes look for:
/// computations done twice, factors of one, parts of concatenations, dead code.
Graph random_graph(std::uint64_t seed);

/// The numbers of the input "features" of random graphs, for a batch. Must outlive its span.
class RandomFeatures {
 public:
  explicit RandomFeatures(std::size_t sentences) : lengths_(sentences, 1), numbers_(4 * sentences) {
    for (std::size_t i = 0; i < numbers_.size(); ++i)
      numbers_[i] = static_cast<float>(i * 7 % 13) / 8 - 0.75f;
    input_ = {.name = "features", .lengths = lengths_, .numbers = numbers_};
  }
  RandomFeatures(const RandomFeatures&) = delete;
  RandomFeatures& operator=(const RandomFeatures&) = delete;

  std::span<const BatchInput> inputs() const { return {&input_, 1}; }

 private:
  std::vector<std::int32_t> lengths_;
  std::vector<float> numbers_;
  BatchInput input_;
};

}  // namespace fuselage
