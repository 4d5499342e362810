#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fuselage/backends/graph_runner.h"

namespace fuselage {

/// The inputs of a run, checked against a graph's declarations.
class CheckedInputs {
 public:
  /// Throws Error as GraphRunner::run does.
  CheckedInputs(const Graph& graph, std::span<const GraphInput> declared,
                std::span<const NamedRows> given);

  std::size_t sentences() const { return sentences_; }
  /// Steps of a sentence.
  std::int32_t steps(std::size_t sentence) const;
  /// The word that a step of a sentence reads; -1: none.
  std::int32_t word(std::size_t sentence, std::int32_t step) const;
  /// The rows of a sentence in its longest input.
  std::int32_t longest(std::size_t sentence) const;
  /// The source-time inputs of the sentences from `begin` to `end`. Valid as long as this object.
  std::vector<BatchInput> batch(std::size_t begin, std::size_t end) const;

 private:
  struct Data {
    const GraphInput* input;
    std::vector<std::int32_t> lengths;
    std::vector<std::int64_t> begin;  ///< first row of each sentence, and the number of rows
    std::vector<std::int32_t> words;
    Tensor numbers;
    bool is_step;
  };

  void add(const Graph& graph, const GraphInput& input, const NamedRows& given);
  void set_lengths(const Graph& graph, Data& data, const NamedRows& given, std::int64_t rows) const;
  void compare_with_others(const Graph& graph, const Data& data) const;

  std::vector<Data> data_;
  const Data* steps_ = nullptr;
  std::size_t sentences_ = 0;
};

}  // namespace fuselage
