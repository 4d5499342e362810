#include "backends/reference/backend.h"

#include <fmt/format.h>

#include <type_traits>
#include <utility>
#include <vector>

#include "backends/reference/interpreter.h"
#include "fuselage/backends/cpu/backend.h"
#include "fuselage/base/error.h"
#include "fuselage/graph/verifier.h"

namespace fuselage {
namespace {

/// Computes in T, float or double.
template <typename T>
class ReferenceWorker : public Worker {
 public:
  ReferenceWorker(const Graph& graph, const TensorMap& weights, const NodeObserver& observer)
      : graph_(graph), frame_(graph), interpreter_(graph, weights) {
    if constexpr (std::is_same_v<T, float>) interpreter_.observe(observer);
    interpreter_.run(BindingTime::load, frame_);
  }

  void begin(const Batch& batch, const StepLimits& limits) override {
    frame_.begin_batch(batch);
    frame_.reserve_steps(limits);
    interpreter_.run(BindingTime::source, frame_);
  }

  void step(const StepInput& input) override {
    frame_.begin_step(input);
    interpreter_.run(BindingTime::step, frame_);
  }

  OutputRows<float> floats(std::size_t output) const override {
    const Array<T>& value = value_of(output);
    floats_.assign(value.data.begin(), value.data.end());
    return {floats_.data(), value.rows, value.cols};
  }

  OutputRows<std::int32_t> integers(std::size_t output) const override {
    const Array<T>& value = value_of(output);
    integers_.assign(value.data.begin(), value.data.end());
    return {integers_.data(), value.rows, value.cols};
  }

  OutputRows<double> doubles(std::size_t output) const override {
    if constexpr (std::is_same_v<T, double>) {
      const Array<T>& value = value_of(output);
      return {value.data.data(), value.rows, value.cols};
    }
    return {};
  }

  bool computes_in_double() const override { return std::is_same_v<T, double>; }

 private:
  const Array<T>& value_of(std::size_t output) const {
    return interpreter_.value(graph_.outputs()[output].value);
  }

  const Graph& graph_;
  RowFrame frame_;
  Interpreter<T> interpreter_;
  mutable std::vector<float> floats_;
  mutable std::vector<std::int32_t> integers_;
};

class ReferenceExecutable : public Executable {
 public:
  ReferenceExecutable(Graph graph, TensorMap weights, NodeObserver observer, bool in_double = false)
      : graph_(std::move(graph)),
        weights_(std::move(weights)),
        observer_(std::move(observer)),
        in_double_(in_double) {
    verify(graph_);
  }

  std::unique_ptr<Worker> make_worker(std::size_t) const override {
    if (in_double_) return std::make_unique<ReferenceWorker<double>>(graph_, weights_, observer_);
    return std::make_unique<ReferenceWorker<float>>(graph_, weights_, observer_);
  }

  std::size_t output(std::string_view name) const override {
    for (std::size_t i = 0; i < graph_.outputs().size(); ++i)
      if (graph_.outputs()[i].name == name) return i;
    throw Error(fmt::format("graph '{}' has no output '{}'", graph_.name(), name));
  }

 private:
  Graph graph_;
  TensorMap weights_;
  NodeObserver observer_;
  bool in_double_;
};

class ReferenceBackend : public Backend {
 public:
  std::string_view name() const override { return "reference"; }

  const Capabilities& capabilities() const override {
    static const Capabilities capabilities{
        .precisions = {Precision::fp32, Precision::bf16, Precision::fp16, Precision::int16,
                       Precision::int8, Precision::int4, Precision::int4_log, Precision::stored},
        .options = {BackendOption::kv_cache, BackendOption::observer, BackendOption::in_double},
        .target = {}};
    return capabilities;
  }

  KernelSet kernels(BindingTime) const override { return {}; }

  /// It computes row by row, so only memory matters.
  BatchBounds fastest_batches(std::size_t beam_size) const override {
    return cpu_backend().fastest_batches(beam_size);
  }

  std::unique_ptr<Executable> compile(Graph graph, TensorMap weights,
                                      const CompileOptions& options) const override {
    if (options.in_double && options.observer)
      throw Error("nodes are observed in float; leave out double or the observer");
    return std::make_unique<ReferenceExecutable>(std::move(graph), std::move(weights),
                                                 options.observer, options.in_double);
  }
};

}  // namespace

const Backend& reference_backend() {
  static const ReferenceBackend backend;
  return backend;
}

std::unique_ptr<Executable> compile_reference(Graph graph, TensorMap weights,
                                              NodeObserver observer) {
  return std::make_unique<ReferenceExecutable>(std::move(graph), std::move(weights),
                                               std::move(observer));
}

}  // namespace fuselage
