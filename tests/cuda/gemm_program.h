#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/cuda/device/executor/device_program.h"
#include "backends/cuda/device/executor/program_runner.h"
#include "backends/cuda/device/gemm/blas.h"
#include "backends/cuda/device/kernel/kernel_registry.h"
#include "backends/cuda/device/recurrent/cudnn.h"
#include "backends/cuda/device/rows/device_row_memory.h"
#include "backends/cuda/device/runtime/stream.h"
#include "backends/cuda/kernel_table.h"
#include "tests/cuda/gemm_support.h"
#include "tests/ops/evaluation.h"

namespace fuselage::cuda {

/// Numbers as a weight of this type.
inline Tensor stored(const Type& type, std::int64_t rows, const std::vector<double>& numbers) {
  std::vector<std::int64_t> shape = type.dims;
  if (rows > 1) shape.insert(shape.begin(), rows);
  if (type.dtype == DType::i32) {
    Tensor tensor(DType::i32, shape);
    std::transform(numbers.begin(), numbers.end(), tensor.mutable_data<std::int32_t>(),
                   [](double x) { return static_cast<std::int32_t>(x); });
    return tensor;
  }
  Tensor tensor(DType::f32, shape);
  std::transform(numbers.begin(), numbers.end(), tensor.mutable_data<float>(),
                 [](double x) { return static_cast<float>(x); });
  if (type.dtype == DType::bf16) return tensor.to_bf16();
  if (type.dtype == DType::f16) return tensor.to_f16();
  if (type.dtype == DType::qint16) return quantized({.to = DType::qint16, .largest = 99}, tensor);
  return type.dtype == DType::qint8 ? quantized({}, tensor) : tensor;
}

/// The values of a stored weight.
inline std::vector<double> numbers_of(const Tensor& tensor) {
  const Tensor floats = tensor.dtype() == DType::i32 ? tensor : tensor.to_f32();
  if (tensor.dtype() == DType::i32)
    return {floats.data<std::int32_t>(), floats.data<std::int32_t>() + floats.size()};
  return {floats.data<float>(), floats.data<float>() + floats.size()};
}

/// A graph over kDomains after two steps of a batch of three sentences, or before any step.
class ProgramTest : public CudaTest {
 protected:
  /// Runs `body` with random params and imports.
  void run_graph(const std::string& body) {
    graph_ = graph_of(body);
    frame_.emplace(graph_);
    begin_steps();
    make_inputs(frame_->table());
    run();
  }

  /// Runs `body` and compares the outputs with the reference evaluation.
  void expect_as_reference(const std::string& body, double error = 1e-4) {
    SCOPED_TRACE(body);
    run_graph(body);
    for (std::size_t i = 0; i < graph_.outputs().size(); ++i) compare(i, error);
  }

  /// The new rows of an output.
  std::vector<float> new_rows(std::size_t output) {
    const Type& type = graph_.value(graph_.outputs()[output].value).type;
    const RowTable& rows = frame_->table();
    const auto size = static_cast<std::size_t>(row_size(type));
    const auto first = static_cast<std::size_t>(rows.first_new(type.domain)) * size;
    std::vector<float> all(static_cast<std::size_t>(rows.rows(type.domain)) * size);
    EXPECT_EQ(cudaMemcpy(all.data(), runner_->output(output), all.size() * sizeof(float),
                         cudaMemcpyDeviceToHost),
              cudaSuccess);
    if (type.dtype == DType::i32)
      for (float& number : all) number = static_cast<float>(std::bit_cast<std::int32_t>(number));
    return {all.begin() + static_cast<std::ptrdiff_t>(first), all.end()};
  }

  Inputs& inputs() { return inputs_; }

  /// Graphs of steps need three sentences.
  std::vector<WordIds> sentences_ = {{1, 2, 0}, {3, 0}, {4, 4, 4, 0}};
  const std::vector<std::int32_t> words_ = {4, 0, -1, 1, 3, 0};  ///< words of the last step
  std::vector<WordIds> lists_;  ///< shortlists by sentence, for graphs that have them
  std::vector<double> rank_;    ///< values of i32 params
  /// The first entry of a name counts.
  std::vector<KernelEntry> registry_{kernel_registry().begin(), kernel_registry().end()};

 private:
  void begin_steps() {
    frame_->begin_batch(sentences_, lists_);
    frame_->reserve_steps(limits());
    if (sentences_.size() != 3) return;
    const std::vector<std::int32_t> fresh = {-1, -1, -1}, all = {0, 1, 2}, zeros = {0, 0, 0};
    frame_->begin_step({fresh, all, all, fresh, zeros});
    const std::vector<std::int32_t> parents = {2, 0}, parent_sentence = {2, 0};
    const std::vector<std::int32_t> parent = {1, 0, 1, 0, 0, 1};
    const std::vector<std::int32_t> ones(words_.size(), 1);
    frame_->begin_step({parents, parent_sentence, parent, words_, ones});
  }

  StepLimits limits() const {
    const std::vector<std::int32_t> each(sentences_.size(), 4);
    return {.hypotheses = each, .steps = each};
  }

  void make_inputs(const RowTable& rows) {
    inputs_.clear();
    weights_.clear();
    unsigned seed = 1;
    for (const NodeId id : graph_.nodes()) {
      const Node& node = graph_.node(id);
      if (!node.has(Trait::external)) continue;
      const Type& type = graph_.value(node.results[0]).type;
      const std::int64_t count = rows.rows(type.domain);
      const std::vector<float> random =
          random_floats(static_cast<std::size_t>(count * row_size(type)), seed++);
      std::vector<double>& numbers = inputs_[node.as<ExternalName>().name];
      numbers.assign(random.begin(), random.end());
      if (type.dtype == DType::i32) numbers = rank_;
      if (graph_.binding(node.results[0]) != BindingTime::load) continue;
      const Tensor tensor = stored(type, count, numbers);
      weights_[node.as<ExternalName>().name] = tensor;
      numbers = numbers_of(tensor);
    }
  }

  void run() {
    const Layout layout = layout_of(*frame_, sentences_.size(), limits());
    weights_on_device_ = std::make_unique<DeviceWeights>(weights_);
    program_ = std::make_unique<DeviceProgram>(plan_program(graph_, cuda_kernels()),
                                               *weights_on_device_, registry_);
    memory_ = std::make_unique<DeviceRowMemory>(graph_);
    memory_->place(layout);
    memory_->upload_source(*frame_, stream_);
    memory_->upload_step(frame_->table(), stream_);
    runner_ = std::make_unique<ProgramRunner>(*program_, *memory_, stream_, blas_, cudnn_);
    runner_->place(layout);
    give_imports(layout);
    const DeviceRows rows =
        memory_->rows(live_bounds(graph_, layout, max_hypotheses(graph_, layout)));
    runner_->reserve_workspace(rows);
    runner_->run(rows);
    stream_.synchronize();
  }

  /// Uploads imports, with memory for all rows of the layout.
  void give_imports(const Layout& layout) {
    imports_.clear();
    for (const Buffer& buffer : program_->plan().buffers) {
      if (buffer.kind != Buffer::Kind::imported) continue;
      const std::vector<double>& numbers = inputs_.at(buffer.name);
      std::vector<float> floats(
          static_cast<std::size_t>(layout.rows[buffer.domain.index] * buffer.row_elements));
      std::copy(numbers.begin(), numbers.end(), floats.begin());
      imports_.push_back(std::make_unique<DeviceArray<float>>(floats));
      runner_->set_import(buffer.name, reinterpret_cast<std::byte*>(imports_.back()->data()));
    }
  }

  void compare(std::size_t output, double error) {
    const Value& value = graph_.value(graph_.outputs()[output].value);
    const Array<double> want =
        evaluate<double>(graph_, frame_->table(), inputs_, value.producer)[value.result];
    const std::vector<float> got = new_rows(output);
    const std::size_t before = want.data.size() - got.size();
    ASSERT_GT(got.size(), 0);
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (got[i] == want.data[before + i]) continue;  // infinities too
      ASSERT_NEAR(got[i], want.data[before + i], error) << "output " << output << ", element " << i;
    }
  }

  Graph graph_;
  std::optional<RowFrame> frame_;
  Inputs inputs_;
  TensorMap weights_;
  Stream stream_;
  Blas blas_;
  Cudnn cudnn_;
  std::unique_ptr<DeviceWeights> weights_on_device_;
  std::unique_ptr<DeviceProgram> program_;
  std::unique_ptr<DeviceRowMemory> memory_;
  std::unique_ptr<ProgramRunner> runner_;
  std::vector<std::unique_ptr<DeviceArray<float>>> imports_;
};

}  // namespace fuselage::cuda
