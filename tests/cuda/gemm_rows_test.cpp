// Helpers of GEMMs: rounding and splitting of rows, tables of rows, matrices with one column.

#include <bit>
#include <cmath>
#include <iterator>

#include "backends/cuda/device/gemm/bias_relu.h"
#include "backends/cuda/device/gemm/frequent_rows.h"
#include "backends/cuda/device/gemm/round_rows.h"
#include "backends/cuda/device/gemm/row_dots.h"
#include "tests/cuda/gemm_matrix.h"

namespace fuselage::cuda {
namespace {

class GemmRowsTest : public CudaTest {};

std::vector<float> to_floats(DType dtype, const std::vector<std::uint16_t>& bits) {
  std::vector<float> numbers;
  for (const std::uint16_t b : bits)
    numbers.push_back(dtype == DType::bf16 ? bfloat16_to_float(b) : half_to_float(b));
  return numbers;
}

TEST_F(GemmRowsTest, AreRoundedAndPaddedWithZeros) {
  constexpr std::int32_t kLive = 4, kMaxLive = 6;
  constexpr std::uint16_t kBefore = 0x3c01;
  for (const DType to : {DType::bf16, DType::f16})
    for (const std::int64_t k : {1, 15, 16, 33, 200}) {
      const TestMatrix type(to, 1, 1, 0);
      const std::int64_t stride = (k + 15) / 16 * 16;
      Operand x(random_floats(static_cast<std::size_t>(7 * (k + 2)), 1), k, k + 2);
      x.through({6, -1, 0, 2, 1, 3});
      const LiveRows rows(kLive, kMaxLive);
      DeviceArray<std::uint16_t> out(static_cast<std::size_t>(kMaxLive * stride), kBefore);
      round_rows(stream(), {x.rows(), rows.rows(), 1, k}, to, stride,
                 {out.data(), stride, nullptr});
      const std::vector<float> got = to_floats(to, out.to_host());
      for (std::int32_t r = 0; r < kMaxLive; ++r)
        for (std::int64_t c = 0; c < stride; ++c) {
          float want = 0;
          if (r >= kLive) want = to_floats(to, {kBefore})[0];
          if (r < kLive && c < k) want = type.rounded(x.row(r)[static_cast<std::size_t>(c)]);
          ASSERT_EQ(got[static_cast<std::size_t>(r * stride + c)], want) << r << ", " << c;
        }
    }
}

TEST_F(GemmRowsTest, KeepTheUpperBitsOfNaNsInBfloat16) {
  std::vector<float> x;
  for (const std::uint32_t bits : {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xff812345u, 0x7fffffffu})
    x.push_back(std::bit_cast<float>(bits));
  x.insert(x.end(), {INFINITY, -INFINITY, -0.0f, 3.4e38f, 1 + 0x1p-8f, 1 + 0x3p-8f});
  const Operand operand(x, static_cast<std::int64_t>(x.size()));
  const LiveRows rows(1, 1);
  DeviceArray<std::uint16_t> out(16);
  round_rows(stream(), {operand.rows(), rows.rows(), 1, std::ssize(x)}, DType::bf16, 16,
             {out.data(), 16, nullptr});
  const std::vector<std::uint16_t> got = out.to_host();
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(got[i], float_to_bfloat16(x[i])) << i;
}

TEST_F(GemmRowsTest, SeveralVectorsARowAreRowsOfTheirOwn) {
  const std::int64_t k = 5, stride = 16;
  const Operand x(random_floats(4 * 3 * k, 2), 3 * k);
  const LiveRows rows(4, 4);
  DeviceArray<std::uint16_t> out(12 * stride);
  round_rows(stream(), {x.rows(), rows.rows(), 3, k}, DType::bf16, stride,
             {out.data(), stride, nullptr});
  const std::vector<float> got = to_floats(DType::bf16, out.to_host());
  const TestMatrix type(DType::bf16, 1, 1, 0);
  for (std::int64_t v = 0; v < 12; ++v)
    for (std::int64_t c = 0; c < stride; ++c)
      EXPECT_EQ(got[static_cast<std::size_t>(v * stride + c)],
                c < k ? type.rounded(x.row(v / 3)[static_cast<std::size_t>(v % 3 * k + c)]) : 0);
}

TEST_F(GemmRowsTest, AreFinishedWithBiasAndRelu) {
  const std::int64_t rows = 3, columns = 300, stride = 303;
  const std::vector<float> before = random_floats(static_cast<std::size_t>(rows * stride), 3);
  const std::vector<float> bias = random_floats(static_cast<std::size_t>(columns), 4);
  const DeviceArray<float> device_bias(bias);
  for (const bool with_bias : {false, true})
    for (const bool relu : {false, true}) {
      DeviceArray<float> out(before);
      add_bias_relu(stream(), out.data(), stride, rows, columns,
                    with_bias ? device_bias.data() : nullptr, relu);
      const std::vector<float> got = out.to_host();
      for (std::size_t i = 0; i < got.size(); ++i) {
        float want = before[i];
        const std::size_t c = i % static_cast<std::size_t>(stride);
        if (c < bias.size()) {
          if (with_bias) want += bias[c];
          if (relu) want = std::max(want, 0.0f);
        }
        ASSERT_EQ(got[i], want) << i;
      }
    }
}

TEST_F(GemmRowsTest, ComeFromTheTableThatHasThem) {
  constexpr std::int32_t kTable = 4, kEntries = 9, kLive = 8, kMaxLive = 10;
  const std::int64_t columns = 131;
  const std::vector<float> table = random_floats(kTable * static_cast<std::size_t>(columns), 5);
  const std::vector<std::int32_t> rank = {7, 0, -1, 2, 8, 1, 3, 4, 6};
  const std::vector<std::int32_t> entries = {1, -1, 3, 8, 0, 6, 4, 2, 1, 1};
  ASSERT_EQ(rank.size(), kEntries);
  const DeviceArray<float> device_table(table);
  const DeviceArray<std::int32_t> device_rank(rank), device_entries(entries);
  const LiveRows rows(kLive, kMaxLive);
  for (const bool ranked : {false, true}) {
    Result out(kMaxLive, columns, columns + 1, 3);
    look_up_products(stream(),
                     {device_table.data(), kTable, columns, ranked ? device_rank.data() : nullptr},
                     device_entries.data(), rows.rows(), out.rows());
    out.fetch();
    for (std::int32_t r = 0; r < kMaxLive; ++r) {
      const std::int32_t entry = entries[static_cast<std::size_t>(r)];
      const std::int32_t row = entry >= 0 && ranked ? rank[static_cast<std::size_t>(entry)] : entry;
      std::vector<float> want(static_cast<std::size_t>(columns));
      if (r >= kLive || (entry >= 0 && (row < 0 || row >= kTable)))
        want.assign(want.size(), kUntouched);
      else if (entry >= 0)
        want.assign(table.begin() + row * columns, table.begin() + (row + 1) * columns);
      EXPECT_TRUE(same_bits(out.row(r), want)) << "row " << r;
    }
    EXPECT_TRUE(out.others_untouched());
  }
}

TEST_F(GemmRowsTest, ThatAreLeadingMakeATable) {
  constexpr std::int32_t kCount = 4;
  const std::int64_t columns = 150;
  const Operand x(random_floats(static_cast<std::size_t>(7 * columns), 6), columns);
  const LiveRows entries(7, 7);
  const std::vector<std::int32_t> rank = {5, 2, 6, 0, -1, 3, 1};
  const DeviceArray<std::int32_t> device_rank(rank);
  for (const bool ranked : {false, true}) {
    DeviceArray<float> out(static_cast<std::size_t>(kCount * columns), kUntouched);
    copy_leading_rows(stream(), x.rows(), entries.rows(), ranked ? device_rank.data() : nullptr,
                      kCount, out.data());
    const std::vector<float> got = out.to_host();
    for (std::int32_t i = 0; i < kCount; ++i) {
      const auto entry = ranked ? std::find(rank.begin(), rank.end(), i) - rank.begin() : i;
      EXPECT_TRUE(
          same_bits({got.begin() + i * columns, got.begin() + (i + 1) * columns}, x.row(entry)));
    }
  }
}

TEST_F(GemmRowsTest, TimesOneColumnAreDotProducts) {
  constexpr std::int32_t kLive = 9, kMaxLive = 11;
  for (const std::int64_t k : {1, 31, 32, 33, 257}) {
    Operand x(random_floats(static_cast<std::size_t>(8 * (k + 1)), 7), k, k + 1);
    x.through({7, 0, -1, 3, 3, 2, 1, 6, -1, 0, 0});
    x.with_fallback(random_floats(static_cast<std::size_t>(k), 8));
    const std::vector<float> w = random_floats(static_cast<std::size_t>(k), 9);
    const DeviceArray<float> device_w(w);
    const LiveRows rows(kLive, kMaxLive);
    Result out(kMaxLive, 1, 2, 1);
    row_dots(stream(), x.rows(), rows.rows(), device_w.data(), out.rows());
    out.fetch();
    for (std::int32_t r = 0; r < kMaxLive; ++r) {
      double want = 0;
      for (std::size_t i = 0; i < w.size(); ++i) want += double{x.row(r)[i]} * w[i];
      if (r < kLive)
        EXPECT_NEAR(out.row(r)[0], want, 1e-5 * static_cast<double>(k));
      else
        EXPECT_TRUE(out.is_untouched(r));
    }
    EXPECT_TRUE(out.others_untouched());
  }
}

}  // namespace
}  // namespace fuselage::cuda
