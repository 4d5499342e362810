#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "backends/row_frame.h"
#include "base/tensor.h"
#include "graph/graph.h"

namespace fuselage {

/// Rows of an output, valid until the worker runs again.
template <typename T>
struct OutputRows {
  const T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;

  std::span<const T> row(std::int64_t r) const {
    return {data + r * cols, static_cast<std::size_t>(cols)};
  }
};

/// Runs batches of sentences through an executable, one batch at a time. Owns all memory that a run
/// needs; not thread-safe, but workers of one executable are independent.
class Worker {
 public:
  virtual ~Worker() = default;

  /// Runs the source program on a batch and makes room for its steps.
  virtual void begin(std::span<const WordIds> sentences, const StepLimits& limits) = 0;

  /// Runs the step program once. Allocates nothing in back-ends that promise so.
  virtual void step(const StepInput& input) = 0;

  /// An output of the last step, by the number that Executable::output gives.
  virtual OutputRows<float> floats(std::size_t output) const = 0;
  virtual OutputRows<std::int32_t> integers(std::size_t output) const = 0;
};

/// A model compiled for one back-end: immutable, shared by all workers.
class Executable {
 public:
  virtual ~Executable() = default;

  virtual std::unique_ptr<Worker> make_worker() const = 0;

  /// Number of the output of that name, for Worker; Error when the graph has none.
  virtual std::size_t output(std::string_view name) const = 0;
};

}  // namespace fuselage
