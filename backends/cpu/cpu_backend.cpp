#include "backends/cpu/cpu_backend.h"

#include <cstring>

#include "backends/cpu/kernel_rows.h"
#include "backends/cpu/plan.h"
#include "backends/cpu/runner.h"
#include "base/error.h"

namespace fuselage {
namespace {

using cpu::ProgramPlan;
using cpu::ProgramRunner;

class CpuWorker : public Worker {
 public:
  CpuWorker(const ProgramPlan& source, const ProgramPlan& step)
      : source_plan_(source), step_plan_(step), frame_(step.graph), source_(source), step_(step) {}

  void begin(std::span<const WordIds> sentences, const StepLimits& limits) override {
    frame_.begin_batch(sentences);
    frame_.reserve_steps(limits);
    source_.begin_batch(frame_);
    step_.begin_batch(frame_);
    source_.run(frame_);
    const auto& outputs = source_plan_.graph.outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i)
      step_.set_import(outputs[i].name, source_.output(i));
  }

  void step(const StepInput& input) override {
    frame_.begin_step(input);
    step_.run(frame_);
  }

  OutputRows<float> floats(std::size_t output) const override { return rows<float>(output); }

  OutputRows<std::int32_t> integers(std::size_t output) const override {
    return rows<std::int32_t>(output);
  }

 private:
  template <typename T>
  OutputRows<T> rows(std::size_t output) const {
    const DomainId domain =
        step_plan_.graph.value(step_plan_.graph.outputs()[output].value).type.domain;
    return {reinterpret_cast<const T*>(step_.output(output)), frame_.table().rows(domain),
            step_.output_cols(output)};
  }

  const ProgramPlan& source_plan_;
  const ProgramPlan& step_plan_;
  RowFrame frame_;
  ProgramRunner source_, step_;
};

/// Runs the load program once; its results join the weights.
TensorMap run_load_program(const Graph& program, const TensorMap& weights,
                           cpu::MatrixCache& matrices) {
  TensorMap results = weights;
  if (program.outputs().empty()) return results;
  const auto plan = cpu::plan_program(program, weights, matrices);
  RowFrame frame(program);
  ProgramRunner runner(*plan);
  runner.begin_batch(frame);
  runner.run(frame);
  for (std::size_t i = 0; i < program.outputs().size(); ++i) {
    const Output& output = program.outputs()[i];
    const Type& type = program.value(output.value).type;
    Dims shape = type.dims;
    if (type.domain != program.none())
      shape.insert(shape.begin(), program.domain(type.domain).size);
    Tensor tensor(DType::f32, shape);
    std::memcpy(tensor.mutable_bytes(), runner.output(i), tensor.size_bytes());
    results.insert_or_assign(output.name, std::move(tensor));
  }
  return results;
}

class CpuExecutable : public Executable {
 public:
  CpuExecutable(const Programs& programs, const TensorMap& weights) {
    cpu::MatrixCache matrices;
    const TensorMap loaded = run_load_program(programs.load, weights, matrices);
    source_ = cpu::plan_program(programs.source, loaded, matrices);
    step_ = cpu::plan_program(programs.step, loaded, matrices);
  }

  std::unique_ptr<Worker> make_worker() const override {
    return std::make_unique<CpuWorker>(*source_, *step_);
  }

  std::size_t output(std::string_view name) const override {
    const auto& outputs = step_->graph.outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i].name == name) return i;
    throw Error("the step program of graph '{}' has no output '{}'", step_->graph.name(), name);
  }

 private:
  std::unique_ptr<ProgramPlan> source_, step_;
};

}  // namespace

std::string describe_kernel(const Graph& program, NodeId id) {
  if (cpu::is_stored(program, program.node(id))) return "";
  const cpu::KernelChoice choice = cpu::choose_kernel(program, id);
  std::string text(choice.row->name);
  for (const cpu::Rejection& rejection : choice.rejections)
    text += fmt::format(" ({}: {})", rejection.kernel, rejection.reason);
  return text;
}

std::unique_ptr<Executable> compile_cpu(const Programs& programs, const TensorMap& weights) {
  return std::make_unique<CpuExecutable>(programs, weights);
}

}  // namespace fuselage
