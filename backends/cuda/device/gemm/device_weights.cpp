#include "backends/cuda/device/gemm/device_weights.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "backends/cpu/weights/weight_region.h"
#include "backends/cuda/device/gemm/matrix_columns.h"
#include "backends/cuda/device/runtime/launch.h"
#include "backends/cuda/device/runtime/memory.h"
#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

constexpr Purpose kWeights{"the weights of a model",
                           "use a precision of fewer bits, a smaller precompute-memory or "
                           "another device"};

/// The identity of a weight, or of a constant of a plan.
struct Source {
  std::string name;  ///< empty: a constant
  DType dtype = DType::f32;
  std::shared_ptr<const Tensor> constant;

  friend bool operator==(const Source&, const Source&) = default;
};

Source source_of(const ProgramPlan& plan, const Buffer& buffer) {
  check(buffer.kind == Buffer::Kind::weight, "not the buffer of a weight");
  if (buffer.constant) return {.constant = buffer.constant};
  return {.name = buffer.name, .dtype = plan.graph.value(buffer.value).type.dtype};
}

}  // namespace

struct DeviceWeights::State {
  struct Stored {
    Source source;
    const std::byte* data = nullptr;
  };
  struct Matrix {
    Source source;
    MatrixForm form;
    std::shared_ptr<const DeviceMatrix> matrix;
  };

  Tensor tensor(const ProgramPlan& plan, const Buffer& buffer) const {
    if (buffer.constant) return *buffer.constant;
    return cpu::checked_weight(cpu::weight_type(plan.graph, buffer), host);
  }

  /// The buffer of a view that a kernel reads in its own form.
  const Buffer& take(const ProgramPlan& plan, const BufferView& view) {
    check(view.offset == 0 && view.index == kNone, "a matrix is a whole weight");
    own_forms.insert(&view);
    return plan.buffers[view.buffer];
  }

  TensorMap host;
  std::vector<DeviceMemory> memory;
  std::vector<Stored> stored;
  std::vector<Matrix> matrices;
  std::set<const BufferView*> own_forms;
  std::size_t matrix_bytes = 0;
};

DeviceWeights::DeviceWeights(TensorMap weights) : state_(std::make_unique<State>()) {
  state_->host = std::move(weights);
}

DeviceWeights::~DeviceWeights() = default;

const std::byte* DeviceWeights::stored(const ProgramPlan& plan, const Buffer& buffer) {
  const Source source = source_of(plan, buffer);
  for (const State::Stored& known : state_->stored)
    if (known.source == source) return known.data;
  const Tensor tensor = state_->tensor(plan, buffer);
  const std::byte* data = upload(tensor.bytes(), tensor.size_bytes());
  state_->stored.push_back({source, data});
  return data;
}

std::shared_ptr<const DeviceMatrix> DeviceWeights::matrix(const ProgramPlan& plan,
                                                          const BufferView& view,
                                                          const MatrixForm& form) {
  const Buffer& buffer = state_->take(plan, view);
  const Source source = source_of(plan, buffer);
  for (const State::Matrix& known : state_->matrices)
    if (known.source == source && known.form == form) return known.matrix;
  const Tensor tensor = state_->tensor(plan, buffer);
  if (tensor.dtype() == DType::qlog4)
    throw Error(fmt::format(
        "weight '{}' is of type qlog4, and the cuda back-end has no product for it; use device cpu "
        "or convert the model with precision int8",
        buffer.name));
  const MatrixColumns columns = matrix_columns(tensor, form);
  auto matrix = std::make_shared<DeviceMatrix>(
      DeviceMatrix{.dtype = columns.dtype, .k = form.k, .n = form.n, .stride = columns.stride});
  const std::size_t before = size_bytes();
  matrix->data = upload(columns.numbers.data(), columns.numbers.size());
  if (!columns.scales.empty())
    matrix->scales = reinterpret_cast<const float*>(
        upload(columns.scales.data(), columns.scales.size() * sizeof(float)));
  state_->matrix_bytes += size_bytes() - before;
  state_->matrices.push_back({source, form, matrix});
  return matrix;
}

Tensor DeviceWeights::host_numbers(const ProgramPlan& plan, const BufferView& view) {
  return state_->tensor(plan, state_->take(plan, view));
}

bool DeviceWeights::has_own_form(const BufferView& view) const {
  return state_->own_forms.contains(&view);
}

const std::byte* DeviceWeights::upload(const void* data, std::size_t bytes) {
  DeviceMemory& memory = state_->memory.emplace_back(bytes, kWeights);
  if (bytes > 0)
    expect_success(cudaMemcpy(memory.data(), data, bytes, cudaMemcpyHostToDevice),
                   "copy of a weight");
  // A copy of pageable memory may be incomplete, and non-blocking streams do not wait for it.
  expect_success(cudaStreamSynchronize(nullptr), "copy of a weight");
  return memory.data();
}

void DeviceWeights::release_host_weights() { state_->host.clear(); }

std::size_t DeviceWeights::size_bytes() const {
  std::size_t bytes = 0;
  for (const DeviceMemory& memory : state_->memory) bytes += memory.size_bytes();
  return bytes;
}

std::size_t DeviceWeights::matrix_bytes() const { return state_->matrix_bytes; }

}  // namespace fuselage::cuda
