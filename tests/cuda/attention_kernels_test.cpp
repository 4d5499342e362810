#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "backends/cuda/device/attention/attention.h"
#include "tests/cuda/op_program.h"

namespace fuselage::cuda {
namespace {

using AttentionKernelsTest = OpTest;

TEST_F(AttentionKernelsTest, SegmentSoftmax) {
  for (const int heads : {1, 3, 8})
    for (const int hypotheses : {0, 1, 33})
      expect_as_reference(with(R"(%x = import() {name = "x", domain = cross, dims = [$n]}
%y = segment_softmax(%x) {to = [cross.left]}
%s = import() {name = "s", domain = self, dims = [$n]}
%z = segment_softmax(%s) {to = [self.left]}
return y = %y, z = %z
)",
                               "$n", heads),
                          hypotheses);
}

TEST_F(AttentionKernelsTest, AdditiveAttention) {
  for (const int columns : {4, 33, 257, 1030})
    for (const int hypotheses : {0, 1, 33})
      expect_as_reference(with(R"(%q = import() {name = "pos_q", domain = hyp, dims = [$n]}
%k = import() {name = "pos_k", domain = source, dims = [$n]}
%v = param() {name = "v", dims = [$n, 1]}
%x = import() {name = "x", domain = source, dims = [35]}
%y, %z = additive_attention(%q, %k, %v, %x) {left = [cross.left], right = [cross.right]}
return y = %y, z = %z
)",
                               "$n", columns),
                          hypotheses);
}

TEST_F(AttentionKernelsTest, DotAttention) {
  for (const int heads : {1, 3})
    for (const int width : {5, 64, 130})
      for (const int hypotheses : {0, 1, 33})
        expect_as_reference(with(with(R"(%q = import() {name = "q", domain = hyp, dims = [$n]}
%k = import() {name = "k", domain = source, dims = [$n]}
%x = import() {name = "x", domain = source, dims = [$n]}
%y, %z = dot_attention(%q, %k, %x) {left = [cross.left], right = [cross.right], heads = $h, scale = 0.25}
return y = %y, z = %z
)",
                                      "$n", heads * width),
                                 "$h", heads),
                            hypotheses);
}

TEST_F(AttentionKernelsTest, DotAttentionWithABias) {
  for (const int heads : {1, 3, 12})
    for (const int width : {5, 40})
      for (const int hypotheses : {0, 1, 33})
        expect_as_reference(with(with(with(R"(%q = import() {name = "q", domain = hyp, dims = [$n]}
%k = import() {name = "k", domain = source, dims = [$n]}
%t = param() {name = "t", domain = vocab, dims = [$h]}
%b = import() {name = "b", domain = cross, dims = [$m]}
%p = slice(%b) {begin = 2, end = $m}
%y, %z = dot_attention(%q, %k, %k, %p) {left = [cross.left], right = [cross.right], heads = $h, scale = 0.25}
%r = select_rows(%t) {via = [cross.left, hyp.word]}
%w, %x = dot_attention(%q, %k, %k, %r) {left = [cross.left], right = [cross.right], heads = $h}
%s = select_rows(%t) {via = [self.left, source.word]}
%u, %v = dot_attention(%k, %k, %k, %s) {left = [self.left], right = [self.right], heads = $h, scale = 0.125}
return y = %y, z = %z, w = %w, x = %x, u = %u, v = %v
)",
                                           "$n", heads * width),
                                      "$m", heads + 2),
                                 "$h", heads),
                            hypotheses);
}

TEST_F(AttentionKernelsTest, AttentionOverTheSourceItself) {
  expect_as_reference(R"(%q = import() {name = "q", domain = source, dims = [96]}
%a = slice(%q) {begin = 0, end = 32}
%b = slice(%q) {begin = 32, end = 64}
%c = slice(%q) {begin = 64, end = 96}
%y, %z = dot_attention(%a, %b, %c) {left = [self.left], right = [self.right], heads = 4}
return y = %y, z = %z
)",
                      1);
}

/// One left row with many pairs, and one with none.
struct LongSource {
  explicit LongSource(std::int32_t length)
      : pairs(static_cast<std::size_t>(length)),
        right(pairs),
        begin(std::vector<std::int32_t>{0, length, length}),
        live(1, 2) {
    std::vector<std::int32_t> order(pairs);
    std::iota(order.rbegin(), order.rend(), 0);
    index = order;
    cudaMemcpy(right.data(), order.data(), pairs * sizeof(std::int32_t), cudaMemcpyHostToDevice);
  }

  Rows left() { return {live.data(), 3}; }

  std::size_t pairs;
  std::vector<std::int32_t> index;
  DeviceArray<std::int32_t> right, begin, live;
};

TEST_F(AttentionKernelsTest, LongSources) {
  constexpr std::size_t kColumns = 40;
  LongSource source(5000);
  std::mt19937 engine(3);
  std::normal_distribution<float> normal;
  std::vector<float> keys(source.pairs * kColumns), queries(2 * kColumns);
  for (float& x : keys) x = normal(engine);
  for (float& x : queries) x = normal(engine);
  DeviceArray<float> k(keys), q(queries), weights(source.pairs), mixtures(3 * kColumns, -1.0f);
  RowsIn rows{
      .data = k.data(), .stride = kColumns, .index = source.right.data(), .columns = kColumns};
  const Attention attention{.queries = {.data = q.data(), .stride = kColumns, .columns = kColumns},
                            .keys = rows,
                            .values = rows,
                            .segments = {source.begin.data()},
                            .left = source.left()};
  dot_attention(stream(), attention, 1, 0.5f, {.data = weights.data(), .stride = 1},
                {.floats = {.data = mixtures.data(), .stride = kColumns}, .rounded = {}});
  std::vector<double> want(source.pairs), mixture(kColumns);
  for (std::size_t p = 0; p < source.pairs; ++p) {
    const float* key = keys.data() + static_cast<std::size_t>(source.index[p]) * kColumns;
    want[p] = std::exp(0.5 * std::inner_product(key, key + kColumns, queries.begin(), 0.0));
  }
  const double sum = std::accumulate(want.begin(), want.end(), 0.0);
  const std::vector<float> got = weights.to_host();
  for (std::size_t p = 0; p < source.pairs; ++p) {
    ASSERT_NEAR(static_cast<double>(got[p]), want[p] / sum, 1e-6) << p;
    for (std::size_t c = 0; c < kColumns; ++c)
      mixture[c] +=
          want[p] / sum *
          static_cast<double>(keys[static_cast<std::size_t>(source.index[p]) * kColumns + c]);
  }
  const std::vector<float> mixed = mixtures.to_host();
  for (std::size_t c = 0; c < kColumns; ++c) {
    EXPECT_NEAR(static_cast<double>(mixed[c]), mixture[c], 1e-5);
    EXPECT_EQ(mixed[kColumns + c], 0.0f) << "a row without pairs has an empty sum";
    EXPECT_EQ(mixed[2 * kColumns + c], -1.0f) << "beyond the rows";
  }
}

// exp(q) and exp(k) overflow and underflow where tanh is 1 or -1.
TEST_F(AttentionKernelsTest, FactorsOfLargeNumbers) {
  constexpr float kLarge = 6.07e37f;
  constexpr std::int32_t kColumns = 131;
  DeviceArray<float> q(kColumns, kLarge), v(kColumns, 1.0f), weights(2), mixtures(kColumns);
  std::vector<float> keys(2 * kColumns, kLarge);
  std::fill(keys.begin() + kColumns, keys.end(), 1 / kLarge);
  keys[0] = 1e-38f;
  DeviceArray<float> k(keys);
  DeviceArray<std::int32_t> right(std::vector{0, 1}), begin(std::vector{0, 2}), live(1, 1);
  const RowsIn rows{
      .data = k.data(), .stride = kColumns, .index = right.data(), .columns = kColumns};
  additive_attention(stream(),
                     {.queries = {.data = q.data(), .stride = kColumns, .columns = kColumns},
                      .keys = rows,
                      .values = rows,
                      .segments = {begin.data()},
                      .left = {live.data(), 1}},
                     v.data(), {.data = weights.data(), .stride = 1},
                     {.floats = {.data = mixtures.data(), .stride = kColumns}, .rounded = {}});
  const std::vector<float> got = weights.to_host();
  // tanh(87 + 87) = 1 beside tanh(0) = 0, in all columns but one.
  EXPECT_FLOAT_EQ(got[0], 1.0f);
  EXPECT_NEAR(got[1], 0.0f, 1e-30f);
}

}  // namespace
}  // namespace fuselage::cuda
