#pragma once

#include <cstddef>
#include <vector>

namespace emulated_cuda {

/// A recurrent layer of one direction, as far as its descriptor says. Matrices and biases have the
/// numbers of cuDNN's linLayerID: first those of the input, then those of the state.
struct RecurrentLayer {
  bool is_lstm = false;
  int inputs = 0, units = 0;

  int gates() const { return is_lstm ? 4 : 3; }
  int parts() const { return 2 * gates(); }
  int columns(int part) const { return part < gates() ? inputs : units; }

  /// First byte of a matrix [units, columns] and of a bias in the space of all, and its size. No
  /// two of them touch.
  std::size_t matrix_at(int part) const;
  std::size_t bias_at(int part) const;
  std::size_t weight_bytes() const { return bias_at(parts()); }
};

/// A layer on rows of sentences that stand one position after the other, the longest first.
struct RecurrentRun {
  RecurrentLayer layer;
  std::vector<int> lengths;
  const float *x = nullptr, *state = nullptr, *cell = nullptr;
  float *y = nullptr, *last_state = nullptr, *last_cell = nullptr;
  const std::byte* weights = nullptr;
};

/// By the expressions of cudnnRNNMode_t in cuDNN's manual, with sums in float. Null states are
/// zeros, and null last ones are not written.
void run(const RecurrentRun& call);

}  // namespace emulated_cuda
