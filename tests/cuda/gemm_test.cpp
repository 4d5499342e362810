#include "backends/cuda/device/gemm/gemm.h"

#include "fuselage/base/error.h"
#include "tests/cuda/gemm_matrix.h"

namespace fuselage::cuda::gemm_test {
namespace {

constexpr DType kReals[] = {DType::f32, DType::bf16, DType::f16};
constexpr DType kIntegers[] = {DType::i8, DType::i16};
constexpr DType kAll[] = {DType::f32, DType::bf16, DType::f16, DType::i8, DType::i16};

struct Extra {
  const float* bias = nullptr;
  bool relu = false;
};

class GemmTest : public CudaTest {
 protected:
  /// Launches a GEMM with a workspace of workspace_bytes().
  void launch(const Gemm& gemm, const RowsIn& x, const Rows& rows, const RowsOut& out,
              const Extra& extra = {}) {
    const Gemm::Staging staging{.x = x.index || x.first || x.stride == 0,
                                .out = out.first != nullptr};
    DeviceArray<std::byte> workspace(gemm.workspace_bytes(rows.max_live, staging), std::byte{0xff});
    gemm.launch({.stream = stream(),
                 .blas = blas_,
                 .workspace = {workspace.data(), workspace.size()},
                 .x = x,
                 .rows = rows,
                 .out = out,
                 .bias = extra.bias,
                 .relu = extra.relu});
    ASSERT_EQ(cudaStreamSynchronize(stream()), cudaSuccess);
  }

 private:
  Blas blas_;
};

bool is_integer(DType dtype) { return dtype == DType::i8 || dtype == DType::i16; }

DType row_type(DType matrix) { return is_integer(matrix) ? row_quantizer(matrix).to : DType::f32; }

/// Elements (of 4 bytes) of a vector for a matrix of this type.
std::int64_t elements_of(DType dtype, std::int64_t k) {
  return static_cast<std::int64_t>(vector_bytes(row_type(dtype), k) / sizeof(float));
}

/// `count` contiguous vectors for a matrix of this type.
std::vector<float> vectors_for(DType dtype, std::size_t count, std::int64_t k, unsigned seed) {
  if (is_integer(dtype)) return quantized_rows(row_quantizer(dtype), count, k, seed);
  return random_floats(count * static_cast<std::size_t>(k), seed);
}

/// Whether `out` has the products of a vector.
::testing::AssertionResult are_products(const TestMatrix& matrix, DType dtype, const float* x,
                                        const float* got) {
  const auto n = static_cast<std::size_t>(matrix.n());
  if (is_integer(dtype)) {
    const std::vector<float> want = integer_products_of(x, matrix, dtype);
    return same_bits(want, {got, got + n}) ? ::testing::AssertionSuccess()
                                           : ::testing::AssertionFailure() << "other integers";
  }
  for (std::size_t c = 0; c < n; ++c) {
    double want = 0;
    for (std::int64_t i = 0; i < matrix.k(); ++i)
      want += double{matrix.rounded(x[i])} * matrix.at(i, static_cast<std::int64_t>(c));
    if (!(std::fabs(want - got[c]) < 1e-3))
      return ::testing::AssertionFailure() << "column " << c << ": " << got[c] << ", not " << want;
  }
  return ::testing::AssertionSuccess();
}

void expect_products(const TestMatrix& matrix, DType dtype, const Operand& x, const Result& out,
                     std::int32_t live, std::int64_t vectors = 1) {
  for (std::int32_t r = 0; r < live; ++r) {
    const std::vector<float> row = x.row(r), got = out.row(r);
    for (std::int64_t v = 0; v < vectors; ++v)
      ASSERT_TRUE(are_products(matrix, dtype, row.data() + v * elements_of(dtype, matrix.k()),
                               got.data() + v * matrix.n()))
          << to_string(dtype) << " row " << r << ", vector " << v;
  }
  EXPECT_TRUE(out.others_untouched());
}

struct Shape {
  std::int64_t k, n;
  std::int32_t live, max_live;
};
// Few and many rows: int8 has a kernel for each.
constexpr Shape kShapes[] = {{1, 1, 1, 1},     {7, 5, 3, 3},      {33, 31, 0, 9},
                             {64, 48, 16, 16}, {50, 130, 17, 40}, {131, 17, 70, 70}};

TEST_F(GemmTest, TakesRowsWhereTheyAre) {
  for (const DType dtype : kAll)
    for (const auto& [k, n, live, max_live] : kShapes) {
      const TestMatrix matrix(dtype, k, n, 1);
      const std::int64_t width = elements_of(dtype, k);
      const Operand x(vectors_for(dtype, static_cast<std::size_t>(max_live), k, 2), width);
      const LiveRows rows(live, max_live);
      Result out(max_live, n, n + 2);
      launch(Gemm(matrix.device(), row_type(dtype)), x.rows(), rows.rows(), out.rows());
      out.fetch();
      expect_products(matrix, dtype, x, out, live);
    }
}

TEST_F(GemmTest, TakesSomeColumnsOfABuffer) {
  const std::int64_t k = 19, n = 11, stride = 30;
  for (const DType dtype : kReals) {
    const TestMatrix matrix(dtype, k, n, 3);
    const Operand x(random_floats(6 * stride, 4), k, stride);
    const LiveRows rows(5, 6);
    Result out(6, n);
    launch(Gemm(matrix.device(), DType::f32), x.rows(), rows.rows(), out.rows());
    out.fetch();
    expect_products(matrix, dtype, x, out, 5);
  }
}

TEST_F(GemmTest, TakesRowsThroughAnIndex) {
  const std::int64_t k = 21, n = 18;
  for (const DType dtype : kAll)
    for (const bool fallback : {false, true})
      for (const std::int32_t max_live : {7, 30}) {
        const TestMatrix matrix(dtype, k, n, 5);
        Operand x(vectors_for(dtype, 9, k, 6), elements_of(dtype, k));
        std::vector<std::int32_t> index = {8, -1, 0, 0, 3, -1, 5};
        index.resize(static_cast<std::size_t>(max_live), 12345);  // of rows that do not live
        x.through(index);
        if (fallback) x.with_fallback(vectors_for(dtype, 1, k, 7));
        const LiveRows rows(7, max_live);
        Result out(max_live, n);
        launch(Gemm(matrix.device(), row_type(dtype)), x.rows(), rows.rows(), out.rows());
        out.fetch();
        expect_products(matrix, dtype, x, out, 7);
      }
}

TEST_F(GemmTest, ReadsAndWritesBehindTheRowsOfEarlierSteps) {
  const std::int64_t k = 13, n = 22;
  for (const DType dtype : kAll)
    for (const std::int32_t live : {0, 4, 20}) {
      const TestMatrix matrix(dtype, k, n, 8);
      Operand x(vectors_for(dtype, 28, k, 9), elements_of(dtype, k));
      x.from(5);
      const LiveRows rows(live, 23);
      Result out(23, n, n, 3);
      launch(Gemm(matrix.device(), row_type(dtype)), x.rows(), rows.rows(), out.rows());
      out.fetch();
      expect_products(matrix, dtype, x, out, live);
      for (std::int32_t r = live; r < 23; ++r) EXPECT_TRUE(out.is_untouched(r));
    }
}

TEST_F(GemmTest, TakesSeveralVectorsARow) {
  constexpr std::int64_t kVectors = 3;
  const std::int64_t k = 10, n = 6;
  for (const DType dtype : kAll)
    for (const bool gathered : {false, true})
      for (const std::int32_t first : {0, 2}) {
        const TestMatrix matrix(dtype, k, n, 10);
        Operand x(vectors_for(dtype, kVectors * 9, k, 11), kVectors * elements_of(dtype, k));
        if (gathered) x.through({8, 1, -1, 0, 4, 4, 2, 3, 0});
        const LiveRows rows(8, 9);
        Result out(9, kVectors * n, kVectors * n, first);
        launch(Gemm(matrix.device(), row_type(dtype), kVectors), x.rows(), rows.rows(), out.rows());
        out.fetch();
        expect_products(matrix, dtype, x, out, 8, kVectors);
      }
}

TEST_F(GemmTest, RepeatsARowWithoutRows) {
  const std::int64_t k = 9, n = 4;
  for (const DType dtype : kAll) {
    const TestMatrix matrix(dtype, k, n, 12);
    const Operand x(vectors_for(dtype, 1, k, 13), elements_of(dtype, k), 0);
    for (const std::int32_t max_live : {1, 3}) {
      const LiveRows rows(max_live, max_live);
      Result out(max_live, n);
      RowsOut to = out.rows();
      if (max_live == 1) to.stride = 0;  // as it is in a place without rows
      launch(Gemm(matrix.device(), row_type(dtype)), x.rows(), rows.rows(), to);
      out.fetch();
      expect_products(matrix, dtype, x, out, max_live);
    }
  }
}

TEST_F(GemmTest, AddsABiasAndTakesRelu) {
  const std::int64_t k = 17, n = 20;
  const std::vector<float> bias = random_floats(static_cast<std::size_t>(n), 14);
  const DeviceArray<float> device_bias(bias);
  for (const DType dtype : kReals)
    for (const std::int32_t first : {0, 3}) {
      const TestMatrix matrix(dtype, k, n, 15);
      const Gemm gemm(matrix.device(), DType::f32);
      ASSERT_TRUE(gemm.fuses_bias_relu());
      const Operand x(random_floats(static_cast<std::size_t>(4 * k), 16), k);
      const LiveRows rows(4, 4);
      Result plain(4, n), out(4, n, n, first);
      launch(gemm, x.rows(), rows.rows(), plain.rows());
      launch(gemm, x.rows(), rows.rows(), out.rows(), {device_bias.data(), true});
      plain.fetch();
      out.fetch();
      for (std::int32_t r = 0; r < 4; ++r)
        for (std::size_t c = 0; c < bias.size(); ++c)
          EXPECT_NEAR(out.row(r)[c], std::max(plain.row(r)[c] + bias[c], 0.0f), 1e-4);
    }
  for (const DType dtype : kIntegers)
    EXPECT_FALSE(Gemm(TestMatrix(dtype, 3, 3, 17).device(), row_type(dtype)).fuses_bias_relu());
}

TEST_F(GemmTest, RowsOfFloatsGoWithMatricesOfIntegers) {
  const std::int64_t k = 23, n = 19;
  for (const DType dtype : kIntegers) {
    const TestMatrix matrix(dtype, k, n, 18);
    const Operand x(random_floats(static_cast<std::size_t>(5 * k), 19), k);
    const LiveRows rows(5, 5);
    Result out(5, n);
    const Gemm gemm(matrix.device(), DType::f32);
    EXPECT_TRUE(gemm.fuses_bias_relu());
    launch(gemm, x.rows(), rows.rows(), out.rows());
    out.fetch();
    for (std::int32_t r = 0; r < 5; ++r)
      for (std::int64_t c = 0; c < n; ++c) {
        double want = 0;
        for (std::int64_t i = 0; i < k; ++i)
          want += double{x.row(r)[static_cast<std::size_t>(i)]} * matrix.at(i, c) * matrix.scale(c);
        EXPECT_NEAR(out.row(r)[static_cast<std::size_t>(c)], want, 1e-4);
      }
  }
}

TEST_F(GemmTest, NothingHappensWithoutRows) {
  for (const DType dtype : kAll) {
    const TestMatrix matrix(dtype, 5, 5, 20);
    const Gemm gemm(matrix.device(), row_type(dtype));
    EXPECT_EQ(gemm.workspace_bytes(0, {true, true}), 0);
    const LiveRows rows(0, 0);
    launch(gemm, {}, rows.rows(), {});
  }
}

TEST_F(GemmTest, RefusesRowsOfAnotherType) {
  EXPECT_THROW(Gemm(TestMatrix(DType::f32, 3, 3, 21).device(), DType::qint8), InternalError);
  EXPECT_THROW(Gemm(TestMatrix(DType::i8, 3, 3, 22).device(), DType::qint16), InternalError);
}

}  // namespace
}  // namespace fuselage::cuda::gemm_test
