#include "backends/reference/backend.h"

#include <fmt/format.h>

#include <utility>

#include "backends/reference/interpreter.h"
#include "fuselage/backends/cpu/backend.h"
#include "fuselage/base/error.h"
#include "fuselage/graph/verifier.h"

namespace fuselage {
namespace {

class ReferenceWorker : public Worker {
 public:
  ReferenceWorker(const Graph& graph, const TensorMap& weights, const NodeObserver& observer)
      : graph_(graph), frame_(graph), interpreter_(graph, weights) {
    interpreter_.observe(observer);
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
    const Array<float>& value = interpreter_.value(graph_.outputs()[output].value);
    return {value.data.data(), value.rows, value.cols};
  }

  OutputRows<std::int32_t> integers(std::size_t output) const override {
    const Array<float>& value = interpreter_.value(graph_.outputs()[output].value);
    integers_.assign(value.data.begin(), value.data.end());
    return {integers_.data(), value.rows, value.cols};
  }

 private:
  const Graph& graph_;
  RowFrame frame_;
  Interpreter<float> interpreter_;
  mutable std::vector<std::int32_t> integers_;
};

class ReferenceExecutable : public Executable {
 public:
  ReferenceExecutable(Graph graph, TensorMap weights, NodeObserver observer)
      : graph_(std::move(graph)), weights_(std::move(weights)), observer_(std::move(observer)) {
    verify(graph_);
  }

  std::unique_ptr<Worker> make_worker(std::size_t) const override {
    return std::make_unique<ReferenceWorker>(graph_, weights_, observer_);
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
};

class ReferenceBackend : public Backend {
 public:
  std::string_view name() const override { return "reference"; }

  const Capabilities& capabilities() const override {
    static const Capabilities capabilities{
        .precisions = {Precision::fp32, Precision::bf16, Precision::fp16, Precision::int16,
                       Precision::int8, Precision::int4, Precision::int4_log, Precision::stored},
        .options = {BackendOption::kv_cache, BackendOption::observer},
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
    return compile_reference(std::move(graph), std::move(weights), options.observer);
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
