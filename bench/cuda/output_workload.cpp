#include "bench/cuda/output_workload.h"

#include <cuda_bf16.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "backends/cuda/device/output/fused_output.h"
#include "backends/cuda/device/output/hopper_output.h"
#include "backends/cuda/device/runtime/launch.h"
#include "bench/cuda/read_roof.h"
#include "bench/cuda/separate_output.h"

namespace fuselage::cuda {
namespace {

constexpr Purpose kPurpose{"a benchmark", "use a smaller vocabulary"};

template <typename T>
T* as(const DeviceMemory& memory) {
  return reinterpret_cast<T*>(memory.data());
}

template <typename T>
DeviceMemory random_numbers(std::int64_t count, float deviation, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, deviation);
  std::vector<T> numbers(static_cast<std::size_t>(count));
  for (T& number : numbers) number = T(normal(random));
  DeviceMemory memory(numbers.size() * sizeof(T), kPurpose);
  expect_success(
      cudaMemcpy(memory.data(), numbers.data(), memory.size_bytes(), cudaMemcpyHostToDevice),
      "copy to the device");
  return memory;
}

DeviceMemory room_for(std::size_t bytes) { return {bytes, kPurpose}; }

std::size_t logit_count(const OutputShape& shape) {
  return static_cast<std::size_t>(shape.rows * shape.columns);
}

}  // namespace

OutputWorkload::OutputWorkload(const OutputShape& shape, const Stream& stream)
    : shape_(shape),
      stream_(stream),
      x_(random_numbers<__nv_bfloat16>(shape.rows * shape.depth, 1, 1)),
      weights_(
          random_numbers<__nv_bfloat16>(std::int64_t{shape.columns + 15} / 16 * 16 * shape.depth,
                                        3 / std::sqrt(static_cast<float>(shape.depth)), 2)),
      bias_(random_numbers<float>(shape.columns, 1, 3)),
      logits_(room_for(logit_count(shape) * sizeof(float))),
      scores_(room_for(logit_count(shape) * sizeof(float))),
      finished_(room_for(logit_count(shape) * sizeof(float))),
      small_(room_for(static_cast<std::size_t>(shape.rows) * 2 * sizeof(float) + 256)),
      results_(room_for(static_cast<std::size_t>(shape.rows * shape.k) * 8)),
      matrix_{.data = weights_.data(),
              .dtype = DType::bf16,
              .k = shape.depth,
              .n = shape.columns,
              .stride = shape.depth} {
  std::size_t bytes = best_of_rows_bytes(shape.rows, shape.columns, shape.k, 1);
  if (fused_shape(matrix_.stride, shape.k))
    bytes = std::max(bytes, fused_output_bytes(shape.rows, matrix_, shape.k));
  if (fits_hopper()) bytes = std::max(bytes, hopper_output_bytes(shape.rows, matrix_, shape.k));
  workspace_ = room_for(bytes);
  const auto live = static_cast<std::int32_t>(shape.rows);
  expect_success(cudaMemcpy(small_.data(), &live, sizeof live, cudaMemcpyHostToDevice),
                 "copy to the device");
  expect_success(cudaDeviceSynchronize(), "copies to the device");
}

double OutputWorkload::product_flop() const {
  return 2.0 * static_cast<double>(shape_.rows) * shape_.columns * shape_.depth;
}

std::size_t OutputWorkload::logit_bytes() const { return logit_count(shape_) * sizeof(float); }

float* OutputWorkload::values() const { return as<float>(results_); }
std::int32_t* OutputWorkload::ids() const {
  return as<std::int32_t>(results_) + shape_.rows * shape_.k;
}
float* OutputWorkload::scores() const { return as<float>(scores_); }

BestQuery OutputWorkload::query(bool log_softmax) const {
  return {.rows = {as<std::int32_t>(small_), static_cast<std::int32_t>(shape_.rows)},
          .columns = shape_.columns,
          .k = shape_.k,
          .log_softmax = log_softmax,
          .out = {{values(), shape_.k, nullptr}, {ids(), shape_.k, nullptr}}};
}

void OutputWorkload::find_best(cudaStream_t stream, const float* finished) {
  const Logits<float> logits[] = {
      {.stored = {.data = finished, .stride = shape_.columns, .columns = shape_.columns}}};
  best_of_rows<float>(stream, query(false), logits, {workspace_.data(), workspace_.size_bytes()});
}

void OutputWorkload::multiply(cudaStream_t stream, DType logits) {
  blas_.product(stream, matrix_,
                {.x = x_.data(),
                 .x_stride = shape_.depth,
                 .rows = shape_.rows,
                 .padded = true,
                 .out = logits_.data(),
                 .out_stride = shape_.columns,
                 .out_type = logits});
}

void OutputWorkload::rank_in_three_kernels(cudaStream_t stream) {
  add_bias(stream, {as<float>(logits_), as<float>(bias_), shape_.rows, shape_.columns}, scores());
  log_softmax_in_passes(stream, scores(), shape_.rows, shape_.columns);
  best_in_passes(stream, scores(), shape_.rows, shape_.columns, shape_.k, values(), ids());
}

void OutputWorkload::rank_in_separate_kernels(cudaStream_t stream) {
  log_softmax_in_two_reads(stream,
                           {as<float>(logits_), as<float>(bias_), shape_.rows, shape_.columns},
                           as<float>(small_) + 64, scores());
  find_best(stream, scores());
}

void OutputWorkload::rank_by_softmax(cudaStream_t stream, const LogSoftmax& softmax) {
  add_bias(stream, {as<float>(logits_), as<float>(bias_), shape_.rows, shape_.columns}, scores());
  softmax(stream, scores(), as<float>(finished_), shape_.rows, shape_.columns);
  find_best(stream, as<float>(finished_));
}

void OutputWorkload::rank_in_one_read(cudaStream_t stream, DType logits) {
  const Workspace workspace{workspace_.data(), workspace_.size_bytes()};
  const auto rank = [&](const auto* data) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(data)>>;
    const Logits<T> all[] = {
        {.stored = {.data = data, .stride = shape_.columns, .columns = shape_.columns},
         .bias = as<float>(bias_)}};
    best_of_rows<T>(stream, query(true), all, workspace);
  };
  if (logits == DType::bf16)
    rank(as<const __nv_bfloat16>(logits_));
  else
    rank(as<const float>(logits_));
}

void OutputWorkload::multiply_and_rank(cudaStream_t stream) {
  fused_output(stream, query(true), x_.data(), matrix_, as<float>(bias_),
               {workspace_.data(), workspace_.size_bytes()});
}

bool OutputWorkload::fits_hopper() const {
  return has_hopper_output() && hopper_shape(shape_.rows, matrix_.stride, shape_.k);
}

void OutputWorkload::multiply_and_rank_on_hopper(cudaStream_t stream) {
  hopper_output(stream, query(true), x_.data(), matrix_, as<float>(bias_),
                {workspace_.data(), workspace_.size_bytes()});
}

void OutputWorkload::read_logits(cudaStream_t stream) {
  read_all(stream, logits_.data(), logit_bytes(), as<float>(small_) + 1);
}

OutputResults OutputWorkload::results() const {
  stream_.synchronize();
  const auto count = static_cast<std::size_t>(shape_.rows * shape_.k);
  OutputResults results{std::vector<float>(count), std::vector<std::int32_t>(count)};
  expect_success(
      cudaMemcpy(results.values.data(), values(), count * sizeof(float), cudaMemcpyDeviceToHost),
      "copy from the device");
  expect_success(
      cudaMemcpy(results.ids.data(), ids(), count * sizeof(std::int32_t), cudaMemcpyDeviceToHost),
      "copy from the device");
  return results;
}

OutputDifference difference(const OutputResults& a, const OutputResults& b) {
  OutputDifference result;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const double value = std::abs(double{a.values[i]} - b.values[i]);
    // NaN counts as an infinite difference.
    result.value = std::isnan(value) ? HUGE_VAL : std::max(result.value, value);
    result.ids += a.ids[i] == b.ids[i] ? 0 : 1;
  }
  result.ids /= static_cast<double>(a.values.size());
  return result;
}

}  // namespace fuselage::cuda
