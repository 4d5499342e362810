#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "fuselage/backends/executable.h"

namespace fuselage {

/// Parameters of made-up scores.
struct ScoreShape {
  std::int32_t vocabulary = 20;
  std::int32_t columns = 6;      ///< words for each hypothesis
  std::uint32_t levels = 1000;   ///< distinct scores; few levels give ties
  std::uint32_t impossible = 0;  ///< one word in this many has a score of -infinity; 0: none
  std::uint64_t seed = 1;
};

/// A hash of two numbers.
inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// A worker with scores that are hashes of the sentence and the words so far. Its steps give the
/// best words of each row: best first, ties by word, padded with no word and a score of NaN.
class HashWorker : public Worker {
 public:
  explicit HashWorker(const ScoreShape& shape) : shape_(shape) {}

  void begin(const Batch& batch, const StepLimits&) override {
    sentences_.assign(batch.sentences.begin(), batch.sentences.end());
    states_.clear();
  }

  void step(const StepInput& input) override {
    const std::vector<std::uint64_t> last = std::move(states_);
    states_.clear();
    scores_.clear();
    words_.clear();
    for (std::size_t h = 0; h < input.words.size(); ++h) {
      const auto parent = static_cast<std::size_t>(input.hypothesis_parent[h]);
      const std::int32_t before = input.parents[parent];
      const auto word = static_cast<std::uint64_t>(input.words[h]);
      const std::uint64_t start = start_of(static_cast<std::size_t>(input.parent_sentence[parent]));
      const auto position = static_cast<std::uint64_t>(input.positions[h]);
      states_.push_back(
          before < 0 ? start : mix(mix(last.at(static_cast<std::size_t>(before)), word), position));
      add_row(states_.back());
    }
  }

  OutputRows<float> floats(std::size_t) const override {
    return {scores_.data(), std::ssize(states_), shape_.columns};
  }
  OutputRows<std::int32_t> integers(std::size_t) const override {
    return {words_.data(), std::ssize(states_), shape_.columns};
  }

 private:
  std::uint64_t start_of(std::size_t sentence) const {
    std::uint64_t state = shape_.seed;
    for (const std::int32_t word : sentences_.at(sentence))
      state = mix(state, static_cast<std::uint64_t>(word));
    return state;
  }

  void add_row(std::uint64_t state) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    std::vector<std::pair<float, std::int32_t>> row;  // negated score, then word
    for (std::int32_t word = 0; word < shape_.vocabulary; ++word) {
      const std::uint64_t hash = mix(state, static_cast<std::uint64_t>(word));
      const bool impossible = shape_.impossible > 0 && hash / 7919 % shape_.impossible == 0;
      const auto level = static_cast<float>(hash % shape_.levels);
      row.emplace_back(
          impossible ? kInfinity : 0.1f + level / static_cast<float>(shape_.levels) * 7, word);
    }
    std::sort(row.begin(), row.end());
    row.resize(static_cast<std::size_t>(shape_.columns), {NAN, -1});
    for (const auto& [cost, word] : row) {
      scores_.push_back(-cost);
      words_.push_back(word);
    }
  }

  ScoreShape shape_;
  std::vector<WordIds> sentences_;
  std::vector<std::uint64_t> states_;  ///< by row of the last step
  std::vector<float> scores_;
  std::vector<std::int32_t> words_;
};

}  // namespace fuselage
