#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "backends/cuda/device/gemm/device_weights.h"
#include "backends/cuda/device/kernel/kernel.h"
#include "backends/cuda/device/output/k_best.h"
#include "tests/cuda/device_array.h"
#include "tests/cuda/reference_k_best.h"

namespace fuselage::cuda {

// Output layers without logits in memory, against products and plain loops in double.

/// Rows of x and a matrix of T, in the kernel's layout.
template <typename T>
struct OutputCase {
  std::int32_t rows, live, depth, columns, k;
  std::int64_t stride;
  bool log_softmax = true, biased = true;
  std::vector<T> x, matrix;
  std::vector<float> bias;

  OutputCase(std::int32_t r, std::int32_t d, std::int32_t n, std::int32_t best)
      : rows(r), live(r), depth(d), columns(n), k(best), stride((d + 15) / 16 * 16) {
    std::mt19937 random(static_cast<unsigned>(r * 1000003 + n * 101 + d));
    std::normal_distribution<float> normal;
    const auto fill = [&](std::vector<T>& vectors, std::int64_t count, float scale) {
      vectors.assign(static_cast<std::size_t>(count * stride), T(0.0f));
      for (std::int64_t v = 0; v < count; ++v)
        for (std::int32_t i = 0; i < depth; ++i)
          vectors[static_cast<std::size_t>(v * stride + i)] = T(scale * normal(random));
    };
    fill(x, rows, 1);
    fill(matrix, columns, 2 / std::sqrt(static_cast<float>(depth)));
    matrix.resize(static_cast<std::size_t>((columns + 15) / 16 * 16 * stride), T(0.0f));
    bias.resize(static_cast<std::size_t>(columns));
    for (float& b : bias) b = normal(random);
  }

  std::vector<double> logits(std::int32_t r) const {
    std::vector<double> all;
    for (std::int32_t c = 0; c < columns; ++c) {
      double sum = biased ? bias[static_cast<std::size_t>(c)] : 0;
      for (std::int32_t i = 0; i < depth; ++i)
        sum += double{static_cast<float>(x[static_cast<std::size_t>(r * stride + i)])} *
               static_cast<float>(matrix[static_cast<std::size_t>(c * stride + i)]);
      all.push_back(sum);
    }
    return all;
  }
};

/// The results of a layer, by row.
struct Found {
  std::vector<float> values;
  std::vector<std::int32_t> ids;
};

/// What results hold before a run.
inline constexpr float kBeforeOutput = 12345;

// Tensor cores sum less accurately than the CPU.
inline constexpr double kOutputTolerance = 2e-4;

/// A way of computing it.
struct OutputWay {
  std::size_t (*bytes)(std::int64_t rows, const DeviceMatrix& matrix, std::int32_t k);
  void (*launch)(cudaStream_t stream, const BestQuery& query, const void* x,
                 const DeviceMatrix& matrix, const float* bias, const Workspace& workspace);
};

template <typename T>
Found run(const OutputCase<T>& c, const OutputWay& way, cudaStream_t stream) {
  const auto places = static_cast<std::size_t>(c.rows) * static_cast<std::size_t>(c.k);
  DeviceArray<T> x(c.x), columns(c.matrix);
  DeviceArray<float> bias(c.bias), values(places, kBeforeOutput);
  DeviceArray<std::int32_t> live(1, c.live), ids(places, -7);
  const BestQuery query{.rows = {live.data(), c.rows},
                        .columns = c.columns,
                        .k = c.k,
                        .log_softmax = c.log_softmax,
                        .out = {{values.data(), c.k, nullptr}, {ids.data(), c.k, nullptr}}};
  const DeviceMatrix matrix{.data = columns.data(),
                            .dtype = std::is_same_v<T, __half> ? DType::f16 : DType::bf16,
                            .k = c.depth,
                            .n = c.columns,
                            .stride = c.stride};
  DeviceArray<std::byte> workspace(way.bytes(c.rows, matrix, c.k));
  way.launch(stream, query, x.data(), matrix, c.biased ? bias.data() : nullptr,
             {workspace.data(), workspace.size()});
  expect_success(cudaStreamSynchronize(stream), "an output layer");
  return {values.to_host(), ids.to_host()};
}

/// Nearly equal sums in float may be ranked in another order.
template <typename T>
void expect_right(const OutputCase<T>& c, const OutputWay& way, cudaStream_t stream) {
  const Found found = run(c, way, stream);
  for (std::int32_t r = 0; r < c.rows; ++r) {
    SCOPED_TRACE(::testing::Message() << c.rows << " rows, " << c.depth << " x " << c.columns
                                      << ", best " << c.k << ", row " << r);
    const bool is_live = r < c.live;
    const std::vector<double> logits = is_live ? c.logits(r) : std::vector<double>();
    const Ranking wanted = best_of(logits, c.k, c.log_softmax);
    std::vector<double> scores = c.log_softmax ? log_softmax_of(logits) : logits;
    for (std::int32_t i = 0; i < c.k; ++i) {
      const auto at = static_cast<std::size_t>(std::int64_t{r} * c.k + i);
      const float value = found.values[at];
      const std::int32_t id = found.ids[at];
      if (!is_live) {
        ASSERT_EQ(value, kBeforeOutput);
        ASSERT_EQ(id, -7);
        continue;
      }
      ASSERT_GE(id, 0);
      ASSERT_LT(id, c.columns);
      if (std::isinf(wanted.values[static_cast<std::size_t>(i)])) {
        ASSERT_EQ(id, wanted.ids[static_cast<std::size_t>(i)]);
        ASSERT_EQ(value, wanted.values[static_cast<std::size_t>(i)]);
        continue;
      }
      ASSERT_NEAR(value, wanted.values[static_cast<std::size_t>(i)], kOutputTolerance);
      ASSERT_NEAR(value, scores[static_cast<std::size_t>(id)], kOutputTolerance);
      scores[static_cast<std::size_t>(id)] = 1e9;  // Each column once.
    }
  }
}

}  // namespace fuselage::cuda
