#include "backends/cuda/device/gemm/integer_gemm.h"

#include <numeric>

#include "backends/cpu/runtime/isa.h"
#include "backends/cpu/simd/gemm/packed_matrix.h"
#include "backends/cpu/simd/table.h"
#include "backends/cuda/device/gemm/round_rows.h"
#include "tests/cuda/gemm_matrix.h"

namespace fuselage::cuda::integer_gemm_test {
namespace {

constexpr DType kIntegers[] = {DType::i8, DType::i16};

class IntegerGemmTest : public CudaTest {};

std::int64_t elements_of(DType integers, std::int64_t k) {
  return static_cast<std::int64_t>(vector_bytes(row_quantizer(integers).to, k) / sizeof(float));
}

struct Shape {
  std::int64_t k, n;
  std::int32_t live, max_live;
};

TEST_F(IntegerGemmTest, AreExactForAnyShapeAndNumberOfRows) {
  constexpr Shape kShapes[] = {{1, 1, 1, 1},     {3, 2, 5, 5},     {15, 17, 16, 16},
                               {33, 65, 17, 20}, {64, 64, 64, 64}, {130, 70, 66, 100},
                               {257, 5, 0, 30},  {66, 130, 3, 9}};
  for (const DType integers : kIntegers)
    for (const auto& [k, n, live, max_live] : kShapes) {
      SCOPED_TRACE(::testing::Message() << to_string(integers) << " k " << k << " n " << n);
      const TestMatrix matrix(integers, k, n, 1);
      const Operand x(
          quantized_rows(row_quantizer(integers), static_cast<std::size_t>(max_live), k, 2),
          elements_of(integers, k));
      const LiveRows rows(live, max_live);
      Result out(max_live, n, n + 3);
      integer_gemm(stream(), {x.rows(), rows.rows(), 1, elements_of(integers, k)}, *matrix.device(),
                   {out.rows(), 1, n});
      out.fetch();
      for (std::int32_t r = 0; r < max_live; ++r)
        ASSERT_TRUE(
            r < live ? same_bits(out.row(r), integer_products_of(x.row(r).data(), matrix, integers))
                     : out.is_untouched(r))
            << "row " << r;
      ASSERT_TRUE(out.others_untouched());
    }
}

TEST_F(IntegerGemmTest, ReadsRowsThroughAnIndexAndWritesBehindOthers) {
  for (const DType integers : kIntegers) {
    const std::int64_t k = 21, n = 19, width = elements_of(integers, k);
    const TestMatrix matrix(integers, k, n, 3);
    for (const bool fallback : {false, true}) {
      Operand x(quantized_rows(row_quantizer(integers), 6, k, 4), width);
      x.through({5, -1, 0, 0, 3, -1});
      if (fallback) x.with_fallback(quantized_rows(row_quantizer(integers), 1, k, 5));
      const LiveRows rows(6, 6);
      Result out(6, n, n, 4);
      integer_gemm(stream(), {x.rows(), rows.rows(), 1, width}, *matrix.device(),
                   {out.rows(), 1, n});
      out.fetch();
      for (std::int32_t r = 0; r < 6; ++r)
        EXPECT_TRUE(same_bits(out.row(r), integer_products_of(x.row(r).data(), matrix, integers)));
      EXPECT_TRUE(out.others_untouched());
    }
  }
}

TEST_F(IntegerGemmTest, TakesSeveralVectorsARow) {
  constexpr std::int32_t kVectors = 3, kLive = 7, kMaxLive = 8;
  for (const DType integers : kIntegers) {
    const std::int64_t k = 13, n = 9, width = elements_of(integers, k);
    const TestMatrix matrix(integers, k, n, 6);
    const Operand x(quantized_rows(row_quantizer(integers), kVectors * kMaxLive, k, 7),
                    kVectors * width);
    const LiveRows rows(kLive, kMaxLive);
    Result out(kMaxLive, kVectors * n);
    integer_gemm(stream(), {x.rows(), rows.rows(), kVectors, width}, *matrix.device(),
                 {out.rows(), kVectors, n});
    out.fetch();
    for (std::int32_t r = 0; r < kLive; ++r) {
      std::vector<float> want;
      const std::vector<float> row = x.row(r);
      for (std::int32_t v = 0; v < kVectors; ++v) {
        const auto products = integer_products_of(row.data() + v * width, matrix, integers);
        want.insert(want.end(), products.begin(), products.end());
      }
      EXPECT_TRUE(same_bits(out.row(r), want));
    }
    EXPECT_TRUE(out.is_untouched(kLive));
  }
}

TEST_F(IntegerGemmTest, HaveTheBitsOfTheCpu) {
  constexpr std::size_t kRows = 18;
  for (const DType integers : kIntegers) {
    const std::int64_t k = 131, n = 67, width = elements_of(integers, k);
    const DType quantized = matrix_quantizer(integers).to;
    const TestMatrix matrix(integers, k, n, 8);
    const std::vector<float> vectors = quantized_rows(row_quantizer(integers), kRows, k, 9);
    const auto packed = cpu::PackedMatrix::pack_quantized(
        quantized, matrix.vectors(), static_cast<std::size_t>(k), static_cast<std::size_t>(n));
    std::vector<float> want(kRows * static_cast<std::size_t>(n));
    cpu::kernels().gemm({.data = vectors.data(),
                         .stride = static_cast<std::size_t>(width),
                         .columns = static_cast<std::size_t>(width)},
                        kRows, packed, {want.data(), static_cast<std::size_t>(n)});
    const Operand x(vectors, width);
    const LiveRows rows(kRows, kRows);
    DeviceArray<float> out(want.size());
    integer_gemm(stream(), {x.rows(), rows.rows(), 1, width}, *matrix.device(),
                 {{out.data(), n, nullptr}, 1, n});
    EXPECT_TRUE(same_bits(out.to_host(), want));
  }
}

TEST_F(IntegerGemmTest, AVectorThatIsNoNumberStaysOne) {
  const TestMatrix matrix(DType::i8, 5, 3, 10);
  std::vector<float> vectors = quantized_rows(row_quantizer(DType::i8), 2, 5, 11);
  vectors[0] = std::numeric_limits<float>::quiet_NaN();
  const Operand x(vectors, elements_of(DType::i8, 5));
  const LiveRows rows(2, 2);
  Result out(2, 3);
  integer_gemm(stream(), {x.rows(), rows.rows(), 1, elements_of(DType::i8, 5)}, *matrix.device(),
               {out.rows(), 1, 3});
  out.fetch();
  EXPECT_TRUE(std::isnan(out.row(0)[1]));
  EXPECT_TRUE(std::isfinite(out.row(1)[1]));
}

TEST_F(IntegerGemmTest, SplitVectorsArePaddedWithZeros) {
  for (const std::int64_t k : {1, 4, 7, 16, 34}) {
    const std::int64_t width = elements_of(DType::i8, k), stride = (k + 15) / 16 * 16;
    Operand x(quantized_rows(row_quantizer(DType::i8), 3, k, 12), width);
    x.through({2, -1, 0, 1});
    const LiveRows rows(3, 4);
    DeviceArray<std::byte> integers(static_cast<std::size_t>(4 * stride), std::byte{77});
    DeviceArray<float> scales(4, kUntouched);
    split_rows(stream(), {x.rows(), rows.rows(), 1, width}, k, stride, integers.data(),
               scales.data());
    const std::vector<std::byte> bytes = integers.to_host();
    for (std::int64_t r = 0; r < 4; ++r) {
      const std::vector<float> row = r < 3 ? x.row(r) : std::vector<float>();
      EXPECT_EQ(scales.to_host()[static_cast<std::size_t>(r)], r < 3 ? row[0] : kUntouched);
      for (std::int64_t i = 0; i < stride; ++i) {
        int want = r < 3 ? 0 : 77;
        if (r < 3 && i < k)
          want = quantized_at(DType::qint8, reinterpret_cast<const std::byte*>(row.data()), i);
        EXPECT_EQ(static_cast<std::int8_t>(bytes[static_cast<std::size_t>(r * stride + i)]), want);
      }
    }
  }
}

TEST_F(IntegerGemmTest, SumsAreScaledAsProductsAre) {
  const std::int64_t k = 19, n = 21, stride = 32, width = elements_of(DType::i8, k);
  const TestMatrix matrix(DType::i8, k, n, 13);
  const Operand x(quantized_rows(row_quantizer(DType::i8), 5, k, 14), width);
  std::vector<std::int32_t> sums(5 * stride, -1);
  std::vector<float> scales;
  for (std::int64_t r = 0; r < 5; ++r) {
    const std::vector<float> row = x.row(r);
    const auto* vector = reinterpret_cast<const std::byte*>(row.data());
    scales.push_back(scale_of(vector));
    for (std::int64_t c = 0; c < n; ++c) {
      std::int32_t& sum = sums[static_cast<std::size_t>(r * stride + c)] = 0;
      for (std::int64_t i = 0; i < k; ++i)
        sum += quantized_at(DType::qint8, vector, i) * static_cast<std::int32_t>(matrix.at(i, c));
    }
  }
  const DeviceArray<std::int32_t> device_sums(sums);
  const DeviceArray<float> device_scales(scales);
  const LiveRows rows(4, 5);
  Result out(5, n, n + 1, 2);
  scale_sums(stream(), {x.rows(), rows.rows(), 1, width}, device_sums.data(), stride,
             device_scales.data(), *matrix.device(), {out.rows(), 1, n});
  out.fetch();
  for (std::int64_t r = 0; r < 4; ++r)
    EXPECT_TRUE(same_bits(out.row(r), integer_products_of(x.row(r).data(), matrix, DType::i8)));
  EXPECT_TRUE(out.is_untouched(4));
  EXPECT_TRUE(out.others_untouched());
}

TEST_F(IntegerGemmTest, AMatrixOfIntegersBecomesWhatItStandsFor) {
  for (const DType integers : kIntegers) {
    const TestMatrix matrix(integers, 37, 18, 15);
    const auto real = dequantized(*matrix.device());
    ASSERT_EQ(real->dtype, DType::f32);
    ASSERT_EQ(real->stride, 48);
    std::vector<float> numbers(32 * 48);
    ASSERT_EQ(cudaMemcpy(numbers.data(), real->data, numbers.size() * sizeof(float),
                         cudaMemcpyDeviceToHost),
              cudaSuccess);
    for (std::int64_t c = 0; c < 32; ++c)
      for (std::int64_t i = 0; i < 48; ++i)
        ASSERT_EQ(numbers[static_cast<std::size_t>(c * 48 + i)],
                  c < 18 && i < 37 ? matrix.at(i, c) * matrix.scale(c) : 0);
  }
}

}  // namespace
}  // namespace fuselage::cuda::integer_gemm_test
