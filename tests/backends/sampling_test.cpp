// Kernels that draw words, against the reference evaluation, at sizes around those of blocks.

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/runtime/isa.h"
#include "fuselage/backends/graph_runner.h"
#include "fuselage/graph/text.h"
#include "fuselage/ops/registry.h"
#include "ops/search/draw.h"

namespace fuselage::sampling_test {
namespace {

constexpr std::int32_t kRows = 40;

/// Words drawn from scores of each sentence, in all ways.
Graph graph_for(std::int64_t width) {
  return parse_graph(R"(fuselage.graph 1
domain sentence = sentence
input x : sentence f32[)" +
                         std::to_string(width) + R"(]
input u : sentence f32[1]
%x = input() {name = "x"}
%u = input() {name = "u"}
%a, %i = sample(%x, %u)
%b, %j = sample(%x, %u) {temperature = 0.5, top_p = 0.9}
%c, %k = sample(%x, %u) {temperature = 2, epsilon = 0.001, excluded = [0]}
%d, %l = k_best(%x) {k = )" +
                         std::to_string(std::min<std::int64_t>(width, 12)) +
                         R"(}
%e, %m = sample(%d, %u, %l) {top_k = 9, top_p = 0.99, excluded = [0, 3, 7]}
return a = %a, i = %i, b = %b, j = %j, c = %c, k = %k, e = %e, m = %m
)",
                     "test.ir", all_ops());
}

std::vector<NamedRows> inputs_for(std::int64_t width) {
  std::mt19937 random(static_cast<unsigned>(width));
  std::normal_distribution<float> normal(0, 2);
  std::uniform_real_distribution<float> uniform(0.001f, 0.999f);
  Tensor x(DType::f32, {kRows, width}), u(DType::f32, {kRows, 1});
  for (std::int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] = normal(random);
  for (std::int64_t i = 0; i < u.size(); ++i) u.mutable_data<float>()[i] = uniform(random);
  // A row of equal scores, and one without a number.
  for (std::int64_t i = 0; i < width; ++i) {
    x.mutable_data<float>()[i] = 1;
    x.mutable_data<float>()[width + i] = -std::numeric_limits<float>::infinity();
  }
  return {{.name = "x", .values = std::move(x)}, {.name = "u", .values = std::move(u)}};
}

/// Scores are unmodified and words are integers.
void expect_same_bytes(const std::vector<NamedRows>& a, const std::vector<NamedRows>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].values.shape(), b[i].values.shape());
    const auto* bits = a[i].values.data<std::int32_t>();
    const auto* wanted = b[i].values.data<std::int32_t>();
    for (std::int64_t j = 0; j < a[i].values.size(); ++j)
      ASSERT_EQ(bits[j], wanted[j]) << a[i].name << ", row " << j;
  }
}

class SamplingKernels : public ::testing::Test {
 protected:
  void TearDown() override { cpu::force_isa(before_); }

 private:
  const std::string before_ = cpu::active_isa();
};

TEST_F(SamplingKernels, OnTheCpuDrawsWhatTheReferenceDraws) {
  for (const std::int64_t width : {1, 2, 7, 8, 9, 255, 256, 257, 1000, 4099}) {
    SCOPED_TRACE(width);
    const std::vector<NamedRows> inputs = inputs_for(width);
    GraphRunner reference(graph_for(width), {}, {.backend = "reference"});
    const std::vector<NamedRows> expected = reference.run(inputs);
    for (const std::string& isa : cpu::supported_isas()) {
      SCOPED_TRACE(isa);
      cpu::force_isa(isa);
      GraphRunner runner(graph_for(width), {});
      for (const std::size_t mini_batch : {0, 1, 7})
        expect_same_bytes(runner.run(inputs, mini_batch), expected);
    }
  }
}

TEST(Draw, TheNucleusIsTheSmallestSetOfTheMostProbable) {
  std::mt19937 random(1);
  std::vector<std::int32_t> order;
  for (int round = 0; round < 200; ++round) {
    std::vector<double> p(1 + random() % 300);
    double sum = 0;
    for (double& x : p) sum += x = std::exp(static_cast<double>(random() % 8));  // many are equal
    for (double& x : p) x /= sum;
    const double top_p = (1 + static_cast<double>(random() % 99)) / 100.5;
    std::vector<double> kept = p;
    keep_nucleus(std::span(kept), top_p, order);
    double all = 0, least = 1, most_out = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      all += kept[i];
      if (kept[i] > 0) least = std::min(least, kept[i]);
      if (kept[i] == 0) most_out = std::max(most_out, p[i]);
      // Of equal words the first ones stay.
      for (std::size_t j = 0; j < i; ++j)
        if (p[i] == p[j] && kept[i] > 0) {
          ASSERT_GT(kept[j], 0);
        }
    }
    EXPECT_GE(all, top_p - 1e-12);
    EXPECT_LT(all - least, top_p);
    EXPECT_LE(most_out, least);
  }
}

TEST(Draw, TakesTheFirstCumulativeSumAboveTheNumber) {
  const std::vector<float> p{0, 0.25f, 0, 0.5f, 0.25f, 0};
  const auto drawn = [&](double u) { return draw_by_sum(std::span(p), u); };
  EXPECT_EQ(drawn(1e-9), 1);
  EXPECT_EQ(drawn(0.24), 1);
  EXPECT_EQ(drawn(0.26), 3);
  EXPECT_EQ(drawn(0.74), 3);
  EXPECT_EQ(drawn(0.76), 4);
  EXPECT_EQ(drawn(1 - 1e-9), 4);
  EXPECT_EQ(draw_by_sum(std::span<const float>(), 0.5), -1);
  const std::vector<float> none{0, 0}, not_numbers{0, std::nanf("")};
  EXPECT_EQ(draw_by_sum(std::span(none), 0.5), -1);
  EXPECT_EQ(draw_by_sum(std::span(not_numbers), 0.5), -1);
}

}  // namespace
}  // namespace fuselage::sampling_test
