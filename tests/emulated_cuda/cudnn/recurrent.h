#pragma once

#include <cstddef>
#include <vector>

namespace emulated_cuda {

/// The descriptor of a recurrent layer of one direction. Matrices and biases are numbered by
/// cuDNN's linLayerID: first the input's, then the state's.
struct RecurrentLayer {
  bool is_lstm = false;
  int inputs = 0, units = 0;

  int gates() const { return is_lstm ? 4 : 3; }
  int parts() const { return 2 * gates(); }
  int columns(int part) const { return part < gates() ? inputs : units; }

  /// The first byte of a matrix [units, columns] and of a bias in the weight space, and its size,
  /// with gaps between them.
  std::size_t matrix_at(int part) const;
  std::size_t bias_at(int part) const;
  std::size_t weight_bytes() const { return bias_at(parts()); }
};

/// A layer on packed sentences: by position, the longest sentence first.
struct RecurrentRun {
  RecurrentLayer layer;
  std::vector<int> lengths;
  const float *x = nullptr, *state = nullptr, *cell = nullptr;
  float *y = nullptr, *last_state = nullptr, *last_cell = nullptr;
  const std::byte* weights = nullptr;
};

/// The formulas of cudnnRNNMode_t in cuDNN's manual, with sums in float. Null initial states are
/// zeros, and null final states are not written.
void run(const RecurrentRun& call);

}  // namespace emulated_cuda
