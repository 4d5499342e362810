#include "recurrent.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace emulated_cuda {
namespace {

constexpr std::size_t kGap = 64;

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

/// The states of all sentences after a position.
struct States {
  std::vector<float> state, cell;
};

class Step {
 public:
  Step(const RecurrentRun& run, States& states) : run_(run), states_(states) {}

  void operator()(std::size_t sentence, const float* x, float* y) {
    const RecurrentLayer& layer = run_.layer;
    const auto units = static_cast<std::size_t>(layer.units);
    x_ = x;
    last_ = states_.state.data() + sentence * units;
    float* cell = states_.cell.data() + sentence * units;
    for (int unit = 0; unit < layer.units; ++unit)
      y[unit] = layer.is_lstm ? lstm(unit, cell[unit]) : gru(unit);
    std::copy_n(y, units, states_.state.data() + sentence * units);
  }

 private:
  float part(int number, int unit) const {
    const RecurrentLayer& layer = run_.layer;
    const int columns = layer.columns(number);
    const float* row = reinterpret_cast<const float*>(run_.weights + layer.matrix_at(number)) +
                       std::int64_t{unit} * columns;
    const float* x = number < layer.gates() ? x_ : last_;
    float sum = reinterpret_cast<const float*>(run_.weights + layer.bias_at(number))[unit];
    for (int i = 0; i < columns; ++i) sum += row[i] * x[i];
    return sum;
  }
  float of_input(int gate, int unit) const { return part(gate, unit); }
  float of_state(int gate, int unit) const { return part(run_.layer.gates() + gate, unit); }
  float both(int gate, int unit) const { return of_input(gate, unit) + of_state(gate, unit); }

  float gru(int unit) const {
    const float reset = sigmoid(both(0, unit)), update = sigmoid(both(1, unit));
    const float candidate = std::tanh(of_input(2, unit) + reset * of_state(2, unit));
    return (1 - update) * candidate + update * last_[unit];
  }

  float lstm(int unit, float& cell) const {
    const float input = sigmoid(both(0, unit)), forget = sigmoid(both(1, unit));
    cell = forget * cell + input * std::tanh(both(2, unit));
    return sigmoid(both(3, unit)) * std::tanh(cell);
  }

  const RecurrentRun& run_;
  States& states_;
  const float *x_ = nullptr, *last_ = nullptr;
};

std::vector<float> first(const float* given, std::size_t size) {
  return given ? std::vector<float>(given, given + size) : std::vector<float>(size);
}

}  // namespace

std::size_t RecurrentLayer::matrix_at(int part) const {
  std::size_t at = kGap;
  for (int i = 0; i < part; ++i)
    at += sizeof(float) * static_cast<std::size_t>(units) * static_cast<std::size_t>(columns(i)) +
          kGap;
  return at;
}

std::size_t RecurrentLayer::bias_at(int part) const {
  return matrix_at(parts()) +
         static_cast<std::size_t>(part) * (sizeof(float) * static_cast<std::size_t>(units) + kGap);
}

void run(const RecurrentRun& call) {
  const auto units = static_cast<std::size_t>(call.layer.units);
  const std::size_t size = units * call.lengths.size();
  States states{first(call.state, size), first(call.cell, size)};
  Step step(call, states);
  const float* x = call.x;
  float* y = call.y;
  for (int t = 0; t < call.lengths.front(); ++t)
    for (std::size_t s = 0; s < call.lengths.size() && call.lengths[s] > t; ++s) {
      step(s, x, y);
      x += call.layer.inputs;
      y += units;
    }
  if (call.last_state) std::copy(states.state.begin(), states.state.end(), call.last_state);
  if (call.last_cell) std::copy(states.cell.begin(), states.cell.end(), call.last_cell);
}

}  // namespace emulated_cuda
