#include "backends/cuda/device/gemm/gemm.h"
#include "base/error.h"
#include "tests/cuda/product_matrix.h"

namespace fuselage::cuda {
namespace {

constexpr DType kReals[] = {DType::f32, DType::bf16, DType::f16};
constexpr DType kIntegers[] = {DType::i8, DType::i16};
constexpr DType kAll[] = {DType::f32, DType::bf16, DType::f16, DType::i8, DType::i16};

struct Extra {
  const float* bias = nullptr;
  bool relu = false;
};

class RowProductTest : public CudaTest {
 protected:
  /// Launches a product with as much workspace as it says that it needs.
  void launch(const RowProduct& product, const RowsIn& x, const Rows& rows, const RowsOut& out,
              const Extra& extra = {}) {
    const RowProduct::Detours detours{.gathers = x.index || x.first || x.stride == 0,
                                      .appends = out.first != nullptr};
    DeviceArray<std::byte> workspace(product.workspace_bytes(rows.most, detours), std::byte{0xff});
    product.launch({.stream = stream(),
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

/// Elements of 4 bytes of a vector that goes with a matrix of this type.
std::int64_t elements_of(DType dtype, std::int64_t k) {
  return static_cast<std::int64_t>(vector_bytes(row_type(dtype), k) / sizeof(float));
}

/// `count` vectors for a matrix of this type, one after the other.
std::vector<float> vectors_for(DType dtype, std::size_t count, std::int64_t k, unsigned seed) {
  if (is_integer(dtype)) return quantized_rows(row_quantizer(dtype), count, k, seed);
  return random_floats(count * static_cast<std::size_t>(k), seed);
}

/// Whether these are the products of a vector.
testing::AssertionResult are_products(const TestMatrix& matrix, DType dtype, const float* x,
                                      const float* got) {
  const auto n = static_cast<std::size_t>(matrix.n());
  if (is_integer(dtype)) {
    const std::vector<float> want = integer_products_of(x, matrix, dtype);
    return same_bits(want, {got, got + n}) ? testing::AssertionSuccess()
                                           : testing::AssertionFailure() << "other integers";
  }
  for (std::size_t c = 0; c < n; ++c) {
    double want = 0;
    for (std::int64_t i = 0; i < matrix.k(); ++i)
      want += double{matrix.rounded(x[i])} * matrix.at(i, static_cast<std::int64_t>(c));
    if (!(std::fabs(want - got[c]) < 1e-3))
      return testing::AssertionFailure() << "column " << c << ": " << got[c] << ", not " << want;
  }
  return testing::AssertionSuccess();
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
  std::int32_t live, most;
};
// Few and many rows, since products of bytes take two ways.
constexpr Shape kShapes[] = {{1, 1, 1, 1},     {7, 5, 3, 3},      {33, 31, 0, 9},
                             {64, 48, 16, 16}, {50, 130, 17, 40}, {131, 17, 70, 70}};

TEST_F(RowProductTest, TakesRowsWhereTheyAre) {
  for (const DType dtype : kAll)
    for (const auto& [k, n, live, most] : kShapes) {
      const TestMatrix matrix(dtype, k, n, 1);
      const std::int64_t width = elements_of(dtype, k);
      const Operand x(vectors_for(dtype, static_cast<std::size_t>(most), k, 2), width);
      const LiveRows rows(live, most);
      Result out(most, n, n + 2);
      launch(RowProduct(matrix.device(), row_type(dtype)), x.rows(), rows.rows(), out.rows());
      out.fetch();
      expect_products(matrix, dtype, x, out, live);
    }
}

TEST_F(RowProductTest, TakesSomeColumnsOfABuffer) {
  const std::int64_t k = 19, n = 11, stride = 30;
  for (const DType dtype : kReals) {
    const TestMatrix matrix(dtype, k, n, 3);
    const Operand x(random_floats(6 * stride, 4), k, stride);
    const LiveRows rows(5, 6);
    Result out(6, n);
    launch(RowProduct(matrix.device(), DType::f32), x.rows(), rows.rows(), out.rows());
    out.fetch();
    expect_products(matrix, dtype, x, out, 5);
  }
}

TEST_F(RowProductTest, TakesRowsThroughAnIndex) {
  const std::int64_t k = 21, n = 18;
  for (const DType dtype : kAll)
    for (const bool fallback : {false, true})
      for (const std::int32_t most : {7, 30}) {
        const TestMatrix matrix(dtype, k, n, 5);
        Operand x(vectors_for(dtype, 9, k, 6), elements_of(dtype, k));
        std::vector<std::int32_t> index = {8, -1, 0, 0, 3, -1, 5};
        index.resize(static_cast<std::size_t>(most), 12345);  // of rows that do not live
        x.through(index);
        if (fallback) x.with_fallback(vectors_for(dtype, 1, k, 7));
        const LiveRows rows(7, most);
        Result out(most, n);
        launch(RowProduct(matrix.device(), row_type(dtype)), x.rows(), rows.rows(), out.rows());
        out.fetch();
        expect_products(matrix, dtype, x, out, 7);
      }
}

TEST_F(RowProductTest, ReadsAndWritesBehindTheRowsOfEarlierSteps) {
  const std::int64_t k = 13, n = 22;
  for (const DType dtype : kAll)
    for (const std::int32_t live : {0, 4, 20}) {
      const TestMatrix matrix(dtype, k, n, 8);
      Operand x(vectors_for(dtype, 28, k, 9), elements_of(dtype, k));
      x.from(5);
      const LiveRows rows(live, 23);
      Result out(23, n, n, 3);
      launch(RowProduct(matrix.device(), row_type(dtype)), x.rows(), rows.rows(), out.rows());
      out.fetch();
      expect_products(matrix, dtype, x, out, live);
      for (std::int32_t r = live; r < 23; ++r) EXPECT_TRUE(out.is_untouched(r));
    }
}

TEST_F(RowProductTest, TakesSeveralVectorsARow) {
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
        launch(RowProduct(matrix.device(), row_type(dtype), kVectors), x.rows(), rows.rows(),
               out.rows());
        out.fetch();
        expect_products(matrix, dtype, x, out, 8, kVectors);
      }
}

TEST_F(RowProductTest, RepeatsARowWithoutRows) {
  const std::int64_t k = 9, n = 4;
  for (const DType dtype : kAll) {
    const TestMatrix matrix(dtype, k, n, 12);
    const Operand x(vectors_for(dtype, 1, k, 13), elements_of(dtype, k), 0);
    for (const std::int32_t most : {1, 3}) {
      const LiveRows rows(most, most);
      Result out(most, n);
      RowsOut to = out.rows();
      if (most == 1) to.stride = 0;  // as it is in a place without rows
      launch(RowProduct(matrix.device(), row_type(dtype)), x.rows(), rows.rows(), to);
      out.fetch();
      expect_products(matrix, dtype, x, out, most);
    }
  }
}

TEST_F(RowProductTest, AddsABiasAndTakesRelu) {
  const std::int64_t k = 17, n = 20;
  const std::vector<float> bias = random_floats(static_cast<std::size_t>(n), 14);
  const DeviceArray<float> device_bias(bias);
  for (const DType dtype : kReals)
    for (const std::int32_t first : {0, 3}) {
      const TestMatrix matrix(dtype, k, n, 15);
      const RowProduct product(matrix.device(), DType::f32);
      ASSERT_TRUE(product.fuses());
      const Operand x(random_floats(static_cast<std::size_t>(4 * k), 16), k);
      const LiveRows rows(4, 4);
      Result plain(4, n), out(4, n, n, first);
      launch(product, x.rows(), rows.rows(), plain.rows());
      launch(product, x.rows(), rows.rows(), out.rows(), {device_bias.data(), true});
      plain.fetch();
      out.fetch();
      for (std::int32_t r = 0; r < 4; ++r)
        for (std::size_t c = 0; c < bias.size(); ++c)
          EXPECT_NEAR(out.row(r)[c], std::max(plain.row(r)[c] + bias[c], 0.0f), 1e-4);
    }
  for (const DType dtype : kIntegers)
    EXPECT_FALSE(RowProduct(TestMatrix(dtype, 3, 3, 17).device(), row_type(dtype)).fuses());
}

TEST_F(RowProductTest, RowsOfFloatsGoWithMatricesOfIntegers) {
  const std::int64_t k = 23, n = 19;
  for (const DType dtype : kIntegers) {
    const TestMatrix matrix(dtype, k, n, 18);
    const Operand x(random_floats(static_cast<std::size_t>(5 * k), 19), k);
    const LiveRows rows(5, 5);
    Result out(5, n);
    const RowProduct product(matrix.device(), DType::f32);
    EXPECT_TRUE(product.fuses());
    launch(product, x.rows(), rows.rows(), out.rows());
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

TEST_F(RowProductTest, NothingHappensWithoutRows) {
  for (const DType dtype : kAll) {
    const TestMatrix matrix(dtype, 5, 5, 20);
    const RowProduct product(matrix.device(), row_type(dtype));
    EXPECT_EQ(product.workspace_bytes(0, {true, true}), 0);
    const LiveRows rows(0, 0);
    launch(product, {}, rows.rows(), {});
  }
}

TEST_F(RowProductTest, RefusesRowsOfAnotherType) {
  EXPECT_THROW(RowProduct(TestMatrix(DType::f32, 3, 3, 21).device(), DType::qint8), InternalError);
  EXPECT_THROW(RowProduct(TestMatrix(DType::i8, 3, 3, 22).device(), DType::qint16), InternalError);
}

}  // namespace
}  // namespace fuselage::cuda
