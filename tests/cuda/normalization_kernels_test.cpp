#include <algorithm>
#include <functional>
#include <limits>
#include <random>

#include "backends/cuda/device/normalization/normalize.h"
#include "backends/cuda/device/normalization/reduce.h"
#include "tests/cuda/op_program.h"

namespace fuselage::cuda {
namespace {

using NormalizationKernelsTest = OpTest;

TEST_F(NormalizationKernelsTest, Softmax) {
  expect_for_all(R"(%x = import() {name = "x", domain = hyp, dims = [$n]}
%y = softmax(%x)
%z = log_softmax(%x)
%s = log_sum_exp(%x)
return y = %y, z = %z, s = %s
)");
}

TEST_F(NormalizationKernelsTest, SoftmaxOfLargeAndSelectedRows) {
  for (const int columns : {5, 300, 5000})
    expect_as_reference(with(R"(%e = param() {name = "E", domain = vocab, dims = [$n]}
%w = select_rows(%e) {via = [hyp.word]}
%s = constant() {values = [300]}
%x = mul(%e, %s)
%t = select_rows(%x) {via = [hyp.word]}
%y = softmax(%t)
%z = log_softmax(%t)
%u = log_sum_exp(%w)
return y = %y, z = %z, u = %u
)",
                             "$n", columns),
                        33);
}

// As on the CPU: a row of -infinity gives zeros, and a NaN makes only its own row NaN.
TEST_F(NormalizationKernelsTest, SoftmaxOfWhatIsNoNumber) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  DeviceArray<float> x(std::vector{-kInfinity, -kInfinity, -kInfinity,  //
                                   1.0f, kNaN, 2.0f,                    //
                                   -kInfinity, 0.0f, 0.0f,              //
                                   kInfinity, 0.0f, 1.0f});
  DeviceArray<std::int32_t> live(1, 4);
  const Rows rows{live.data(), 5};
  const RowsIn in{.data = x.data(), .stride = 3, .columns = 3};
  DeviceArray<float> y(12), z(12), s(4);
  softmax(stream(), in, rows, 3, {.data = y.data(), .stride = 3});
  log_softmax(stream(), in, rows, 3, {.data = z.data(), .stride = 3});
  log_sum_exp(stream(), in, rows, 3, {.data = s.data(), .stride = 1});
  const std::vector<float> weights = y.to_host(), logs = z.to_host(), sums = s.to_host();
  for (std::size_t i : {0, 1, 2}) {
    EXPECT_EQ(weights[i], 0.0f);
    EXPECT_EQ(logs[i], -kInfinity);
    EXPECT_TRUE(std::isnan(weights[3 + i]));
    EXPECT_TRUE(std::isnan(logs[3 + i]));
    EXPECT_TRUE(std::isnan(weights[9 + i]));
  }
  EXPECT_EQ(weights[6], 0.0f);
  EXPECT_EQ(weights[7], 0.5f);
  EXPECT_EQ(logs[6], -kInfinity);
  EXPECT_EQ(sums[0], -kInfinity);
  EXPECT_TRUE(std::isnan(sums[1]));
  EXPECT_FLOAT_EQ(sums[2], std::log(2.0f));
}

/// Rows that registers hold, and longer ones.
TEST_F(NormalizationKernelsTest, OfASumHasTheBitsOfTheSumsNormalization) {
  for (const std::int32_t columns : {1, 5, 33, 256, 257, 512, 1024, 1025, 4097}) {
    const auto size = std::size_t{3} * static_cast<std::size_t>(columns);
    std::vector<float> left(size), right(size), sums(size), gains(size / 3), offsets(size / 3);
    std::mt19937 engine(3);
    std::normal_distribution<float> normal;
    for (auto* numbers : {&left, &right, &gains, &offsets})
      for (float& x : *numbers) x = normal(engine);
    std::transform(left.begin(), left.end(), right.begin(), sums.begin(), std::plus<>());
    DeviceArray<float> a(left), b(right), sum(sums), gain(gains), bias(offsets), out(size),
        want(size), stored(size);
    DeviceArray<std::int32_t> live(1, 3);
    const auto in = [&](DeviceArray<float>& x) {
      return RowsIn{.data = x.data(), .stride = columns, .columns = columns};
    };
    const auto to = [&](DeviceArray<float>& x) { return RowsOut{x.data(), columns}; };
    for (float* offset : {bias.data(), static_cast<float*>(nullptr)}) {
      const NormWeights weights{gain.data(), offset, 1e-5f};
      const Rows rows{live.data(), 4};
      layer_norm(stream(), in(sum), weights, rows, columns, to(want));
      add_layer_norm(stream(), in(a), in(b), weights, rows, columns,
                     {.floats = to(out), .rounded = {}}, {.floats = to(stored), .rounded = {}},
                     true);
      EXPECT_EQ(out.to_host(), want.to_host()) << columns;
      EXPECT_EQ(stored.to_host(), sums);
      rms_norm(stream(), in(sum), weights, rows, columns, to(want));
      add_rms_norm(stream(), in(a), in(b), weights, rows, columns,
                   {.floats = to(out), .rounded = {}}, {.floats = to(stored), .rounded = {}},
                   false);
      EXPECT_EQ(out.to_host(), want.to_host()) << columns;
    }
  }
}

TEST_F(NormalizationKernelsTest, Reductions) {
  expect_for_all(R"(%x = import() {name = "x", domain = hyp, dims = [$n]}
%m = import() {name = "m", domain = hyp, dims = [3, $n]}
%e = param() {name = "E", domain = vocab, dims = [$n]}
%w = select_rows(%e) {via = [hyp.word]}
%s = reduce_sum(%x)
%l = reduce_max(%x)
%a = reduce_mean(%x)
%sm = reduce_sum(%m)
%lm = reduce_max(%m)
%am = reduce_mean(%m)
%sw = reduce_sum(%w)
%lw = reduce_max(%w)
%r = reshape(%m) {dims = [$n, 3]}
%t = reduce_sum(%r)
return s = %s, l = %l, a = %a, sm = %sm, lm = %lm, am = %am, sw = %sw, lw = %lw, r = %r, t = %t
)");
}

// In any lane of the group, a NaN reaches the maximum.
TEST_F(NormalizationKernelsTest, MaximumOfNumbersWithNaN) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const std::int32_t columns : {1, 33, 300})
    for (std::int32_t at = 0; at < columns; at += 7) {
      std::vector<float> numbers(static_cast<std::size_t>(columns), -kInfinity);
      DeviceArray<float> y(1, 0);
      DeviceArray<std::int32_t> live(1, 1);
      for (const bool has_nan : {false, true}) {
        if (has_nan)
          numbers[static_cast<std::size_t>(at)] = std::numeric_limits<float>::quiet_NaN();
        DeviceArray<float> x(numbers);
        reduce_vectors(stream(), Reduction::max,
                       {.data = x.data(), .stride = columns, .columns = columns}, {live.data(), 1},
                       1, columns, {.data = y.data(), .stride = 1});
        const float got = y.to_host()[0];
        if (has_nan)
          EXPECT_TRUE(std::isnan(got)) << at;
        else
          EXPECT_EQ(got, -kInfinity);
      }
    }
}

TEST_F(NormalizationKernelsTest, LayerNorm) {
  expect_for_all(R"(%x = import() {name = "x", domain = hyp, dims = [$n]}
%g = param() {name = "g", dims = [$n]}
%b = param() {name = "b", dims = [$n]}
%y = layer_norm(%x, %g, %b) {epsilon = 1e-05}
%z = layer_norm(%x, %g) {epsilon = 0.001}
%r = rms_norm(%x, %g) {epsilon = 1e-06}
return y = %y, z = %z, r = %r
)");
}

TEST_F(NormalizationKernelsTest, NormsOfSelectedRowsAndOfPrefixes) {
  expect_for_all(R"(%e = param() {name = "E", domain = vocab, dims = [$n]}
%w = select_rows(%e) {via = [hyp.word]}
%g = param() {name = "g", dims = [$n]}
%y = layer_norm(%w, %g) {epsilon = 1e-05}
%p = import() {name = "p", domain = prefix, dims = [$n]}
%z = rms_norm(%p, %g) {epsilon = 1e-05}
return y = %y, z = %z
)");
}

TEST_F(NormalizationKernelsTest, NormsOfSumsGiveTheSumsToo) {
  expect_for_all(R"(%a = import() {name = "a", domain = hyp, dims = [$n]}
%e = param() {name = "E", domain = vocab, dims = [$n]}
%w = select_rows(%e) {via = [hyp.word]}
%s = import() {name = "s", domain = hyp, dims = [1]}
%g = param() {name = "g", dims = [$n]}
%b = param() {name = "b", dims = [$n]}
%y, %sum = add_layer_norm(%a, %w, %g, %b) {epsilon = 1e-05}
%z, %sum2 = add_layer_norm(%a, %s, %g) {epsilon = 1e-05}
%r, %sum3 = add_rms_norm(%w, %a, %g) {epsilon = 1e-05}
%t, %sum4 = add_rms_norm(%s, %a, %g) {epsilon = 1e-06}
return y = %y, sum = %sum, z = %z, sum2 = %sum2, r = %r, sum3 = %sum3, t = %t, sum4 = %sum4
)");
}

}  // namespace
}  // namespace fuselage::cuda
