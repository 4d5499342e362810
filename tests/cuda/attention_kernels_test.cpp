#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>

#include "backends/cuda/device/attention/attention.h"
#include "fuselage/base/tensor.h"
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

// Heads of an odd width, whose rows are read one number at a time, and of few and many runs.
TEST_F(AttentionKernelsTest, DotAttentionWithKeysAndValuesOfHalves) {
  for (const char* type : {"bf16", "f16"})
    for (const int heads : {2, 4})
      for (const int width : {1, 5, 8, 63, 64, 72, 130, 264})
        for (const int hypotheses : {0, 1, 33}) {
          std::string body = R"(%q = import() {name = "q", domain = hyp, dims = [$n]}
%k = import() {name = "k", domain = source, dims = [$n]}
%x = import() {name = "x", domain = source, dims = [$v]}
%b = import() {name = "b", domain = cross, dims = [$h]}
%l = quantize(%k) {to = TYPE}
%m = quantize(%x) {to = TYPE}
%y, %z = dot_attention(%q, %l, %m, %b) {left = [cross.left], right = [cross.right], heads = $h, scale = 0.25}
return y = %y, z = %z
)";
          for (std::size_t at = 0; (at = body.find("TYPE")) != std::string::npos;)
            body.replace(at, 4, type);
          body = with(with(body, "$n", heads * width), "$v", heads * (width + 7));
          expect_as_reference(with(body, "$h", heads), hypotheses);
        }
}

/// Keys and values are parts of rows as of one product. In a first step the only pair of a row is
/// that with the value that it appends.
TEST_F(AttentionKernelsTest, AttendsToWhatItAppends) {
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    std::string body = R"(domain own = pairs of hyp, prefix
%x = import() {name = "x", domain = hyp, dims = [104]}
%q = slice(%x) {begin = 0, end = 32}
%k = slice(%x) {begin = 32, end = 64}
%v = slice(%x) {begin = 64, end = 104}
%keys = history(%k) {domain = prefix, to = TYPE}
%values = history(%v) {domain = prefix, to = TYPE}
%y, %z = dot_attention(%q, %keys, %values) {left = [own.left], right = [own.right], heads = 4}
return z = %z
)";
    for (std::size_t at = 0; (at = body.find("TYPE")) != std::string::npos;)
      body.replace(at, 4, to_string(type));
    const Graph graph = graph_of(body);
    for (const int hypotheses : {1, 33}) {
      const RowFrame frame = random_rows(graph, 7, hypotheses, /*steps=*/1);
      const Inputs inputs = random_inputs(graph, frame.table(), 11);
      OpProgram program(graph, frame.table(), inputs);
      program.run(stream());
      ASSERT_EQ(cudaStreamSynchronize(stream()), cudaSuccess);
      const std::vector<float> got = program.output(0);
      ASSERT_EQ(got.size(), static_cast<std::size_t>(hypotheses) * 40);
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(got[i],
                  rounded_to(type, static_cast<float>(inputs.at("x")[i / 40 * 104 + 64 + i % 40])))
            << i << " of " << to_string(type);
    }
  }
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

template <typename T>
constexpr DType kTypeOf = DType::f32;
template <>
constexpr DType kTypeOf<__nv_bfloat16> = DType::bf16;
template <>
constexpr DType kTypeOf<__half> = DType::f16;

/// Numbers as keys and values of T.
template <typename T>
std::vector<T> keys_of(const std::vector<float>& numbers) {
  std::vector<T> keys(numbers.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if constexpr (sizeof(T) == sizeof(float)) {
      keys[i] = numbers[i];
    } else {
      const auto to_half = kTypeOf<T> == DType::bf16 ? float_to_bfloat16 : float_to_half;
      keys[i] = std::bit_cast<T>(to_half(numbers[i]));
    }
  }
  return keys;
}

/// The same numbers as floats.
template <typename T>
std::vector<float> floats_of(const std::vector<T>& keys) {
  std::vector<float> numbers;
  for (const T key : keys) {
    if constexpr (sizeof(T) == sizeof(float)) {
      numbers.push_back(key);
    } else {
      const auto to_float = kTypeOf<T> == DType::bf16 ? bfloat16_to_float : half_to_float;
      numbers.push_back(to_float(std::bit_cast<std::uint16_t>(key)));
    }
  }
  return numbers;
}

/// Attention whose keys and values are of T.
template <typename T>
class KeysOfType : public OpTest {};
using KeyTypes = ::testing::Types<float, __nv_bfloat16, __half>;
TYPED_TEST_SUITE(KeysOfType, KeyTypes);

TYPED_TEST(KeysOfType, OfALongSource) {
  constexpr std::size_t kColumns = 40;
  LongSource source(5000);
  std::mt19937 engine(3);
  std::normal_distribution<float> normal;
  std::vector<float> keys(source.pairs * kColumns), queries(2 * kColumns);
  for (float& x : keys) x = rounded_to(kTypeOf<TypeParam>, normal(engine));
  for (float& x : queries) x = normal(engine);
  DeviceArray<TypeParam> k(keys_of<TypeParam>(keys));
  DeviceArray<float> q(queries), weights(source.pairs), mixtures(3 * kColumns, -1.0f);
  const RowsOf<TypeParam> rows{
      .data = k.data(), .stride = kColumns, .index = source.right.data(), .columns = kColumns};
  const Attention<TypeParam> attention{
      .queries = {.data = q.data(), .stride = kColumns, .columns = kColumns},
      .keys = rows,
      .values = rows,
      .biases = {},
      .segments = {source.begin.data()},
      .left = source.left(),
      .new_keys = {},
      .new_values = {}};
  dot_attention(this->stream(), attention, 1, 0.5f, {.data = weights.data(), .stride = 1}, true,
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

/// Left rows with numbers of pairs, whose keys and values are rows of a history. The newest row of
/// each left row is its last pair.
struct Prefixes {
  Prefixes(const std::vector<std::int32_t>& counts, std::int64_t head_count, std::int64_t width)
      : lefts(counts.size()),
        heads(head_count),
        columns(static_cast<std::size_t>(head_count * width)) {
    std::mt19937 engine(5);
    std::normal_distribution<float> normal;
    const auto random = [&](std::size_t size) {
      std::vector<float> numbers(size);
      for (float& x : numbers) x = normal(engine);
      return numbers;
    };
    for (const std::int32_t count : counts) begins.push_back(begins.back() + count);
    rows = static_cast<std::size_t>(begins.back());
    index.resize(rows);
    std::iota(index.rbegin(), index.rend(), 0);
    for (std::size_t i = 0; i < lefts; ++i)
      newest.push_back(index[static_cast<std::size_t>(begins[i + 1] - 1)]);
    queries = random(lefts * columns);
    keys = random(rows * columns);
    values = random(rows * columns);
    biases = random(rows * static_cast<std::size_t>(heads));
  }

  /// The rows of the newest pairs, by left row.
  std::vector<float> new_rows(const std::vector<float>& history) const {
    std::vector<float> found;
    for (const std::int32_t row : newest) {
      const auto at = history.begin() + row * static_cast<std::ptrdiff_t>(columns);
      found.insert(found.end(), at, at + static_cast<std::ptrdiff_t>(columns));
    }
    return found;
  }

  /// `history` with NaN in the rows of the newest pairs.
  std::vector<float> old_rows(std::vector<float> history) const {
    for (const std::int32_t row : newest)
      std::fill_n(history.begin() + row * static_cast<std::ptrdiff_t>(columns), columns, NAN);
    return history;
  }

  std::size_t lefts, rows = 0;
  std::int64_t heads;
  std::size_t columns;
  std::vector<std::int32_t> begins{0}, index, newest;
  std::vector<float> queries, keys, values, biases;
};

struct AttentionResults {
  std::vector<float> weights, mixtures, keys, values;
};

/// Attention of `prefixes`, of at most `max_live` rows, with keys and values of T. With `appends`
/// the newest rows are not in the history before.
template <typename T>
AttentionResults attend(cudaStream_t stream, const Prefixes& prefixes, bool appends,
                        std::int32_t max_live, bool reads_weights = true) {
  const auto columns = static_cast<std::int32_t>(prefixes.columns);
  const auto heads = static_cast<std::int32_t>(prefixes.heads);
  DeviceArray<float> q(prefixes.queries), b(prefixes.biases),
      new_k(prefixes.new_rows(prefixes.keys)), new_v(prefixes.new_rows(prefixes.values)),
      weights(prefixes.biases.size()), mixtures(prefixes.queries.size());
  DeviceArray<T> k(keys_of<T>(appends ? prefixes.old_rows(prefixes.keys) : prefixes.keys)),
      v(keys_of<T>(appends ? prefixes.old_rows(prefixes.values) : prefixes.values));
  DeviceArray<std::int32_t> begin(prefixes.begins), right(prefixes.index), newest(prefixes.newest),
      live(1, static_cast<std::int32_t>(prefixes.lefts));
  const auto matrix = [&]<typename U>(DeviceArray<U>& array) {
    return RowsOf<U>{.data = array.data(), .stride = columns, .columns = columns};
  };
  Attention<T> in{.queries = matrix(q),
                  .keys = matrix(k),
                  .values = matrix(v),
                  .biases = {.data = b.data(), .stride = heads, .columns = heads},
                  .segments = {begin.data()},
                  .left = {live.data(), max_live},
                  .new_keys = {},
                  .new_values = {}};
  in.keys.index = in.values.index = right.data();
  if (appends) {
    in.new_keys = {matrix(new_k), newest.data(), k.data()};
    in.new_values = {matrix(new_v), newest.data(), v.data()};
  }
  dot_attention(stream, in, heads, 0.25f, {.data = weights.data(), .stride = heads}, reads_weights,
                {.floats = {.data = mixtures.data(), .stride = columns}, .rounded = {}});
  return {weights.to_host(), mixtures.to_host(), floats_of(k.to_host()), floats_of(v.to_host())};
}

/// Blocks of one head, and of several.
constexpr std::int32_t kFewRows = 12, kManyRows = 2000;

TYPED_TEST(KeysOfType, AreAppendedToTheHistory) {
  for (const std::int64_t heads : {1, 12})
    for (const std::int64_t width : {5, 64, 72, 130})
      for (const std::int32_t max_live : {kFewRows, kManyRows}) {
        const Prefixes prefixes({1, 9, 33, 128, 129, 300, 20}, heads, width);
        const AttentionResults want = attend<TypeParam>(this->stream(), prefixes, false, max_live);
        const AttentionResults got = attend<TypeParam>(this->stream(), prefixes, true, max_live);
        EXPECT_EQ(got.weights, want.weights) << heads << " heads of " << width;
        EXPECT_EQ(got.mixtures, want.mixtures);
        EXPECT_EQ(got.keys, floats_of(keys_of<TypeParam>(prefixes.keys)));
        EXPECT_EQ(got.values, floats_of(keys_of<TypeParam>(prefixes.values)));
      }
}

/// The pairs of `few` and as many more that each left row has 256: pairs with the bias -infinity
/// have no weight, but make the segment longer.
Prefixes prolonged(const Prefixes& few, const std::vector<std::int32_t>& counts,
                   std::int64_t width) {
  Prefixes many(std::vector<std::int32_t>(counts.size(), 256), few.heads, width);
  many.queries = few.queries;
  std::fill(many.biases.begin(), many.biases.end(), -INFINITY);
  for (std::size_t i = 0; i < counts.size(); ++i)
    for (std::size_t p = 0; p < static_cast<std::size_t>(counts[i]); ++p) {
      const std::size_t from = static_cast<std::size_t>(few.begins[i]) + p;
      const std::size_t to = static_cast<std::size_t>(many.begins[i]) + p;
      const std::size_t row = static_cast<std::size_t>(few.index[from]) * few.columns;
      const std::size_t at = static_cast<std::size_t>(many.index[to]) * few.columns;
      std::copy_n(&few.keys[row], few.columns, &many.keys[at]);
      std::copy_n(&few.values[row], few.columns, &many.values[at]);
      const auto heads = static_cast<std::size_t>(few.heads);
      std::copy_n(&few.biases[from * heads], heads, &many.biases[to * heads]);
    }
  return many;
}

TYPED_TEST(KeysOfType, OfAWarpForAHeadGiveTheBitsOfABlock) {
  constexpr std::int64_t kHeads = 10;
  const std::vector<std::int32_t> counts{1, 7, 32, 33, 96, 128};
  for (const std::int64_t width : {5, 64, 100, 128})
    for (const std::int32_t max_live : {kFewRows, kManyRows}) {
      const Prefixes few(counts, kHeads, width);
      const Prefixes many = prolonged(few, counts, width);
      const AttentionResults by_warps = attend<TypeParam>(this->stream(), few, false, max_live);
      const AttentionResults by_blocks = attend<TypeParam>(this->stream(), many, false, max_live);
      EXPECT_EQ(by_warps.mixtures, by_blocks.mixtures) << width;
      for (std::size_t i = 0; i < counts.size(); ++i)
        for (std::int32_t p = 0; p < counts[i] * kHeads; ++p)
          ASSERT_EQ(by_warps.weights[static_cast<std::size_t>(few.begins[i] * kHeads + p)],
                    by_blocks.weights[static_cast<std::size_t>(many.begins[i] * kHeads + p)]);
    }
}

TYPED_TEST(KeysOfType, LeaveWeightsOutThatNothingReads) {
  const Prefixes prefixes({20, 3}, 8, 64);
  const AttentionResults got = attend<TypeParam>(this->stream(), prefixes, false, kFewRows, false);
  EXPECT_EQ(got.mixtures, attend<TypeParam>(this->stream(), prefixes, false, kFewRows).mixtures);
  EXPECT_EQ(got.weights, std::vector<float>(got.weights.size()));
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
                      .biases = {},
                      .segments = {begin.data()},
                      .left = {live.data(), 1},
                      .new_keys = {},
                      .new_values = {}},
                     v.data(), {.data = weights.data(), .stride = 1},
                     {.floats = {.data = mixtures.data(), .stride = kColumns}, .rounded = {}});
  const std::vector<float> got = weights.to_host();
  // tanh(87 + 87) = 1 beside tanh(0) = 0, in all columns but one.
  EXPECT_FLOAT_EQ(got[0], 1.0f);
  EXPECT_NEAR(got[1], 0.0f, 1e-30f);
}

}  // namespace
}  // namespace fuselage::cuda
