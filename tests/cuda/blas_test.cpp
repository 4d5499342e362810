#include "backends/cuda/device/gemm/blas.h"

#include <algorithm>

#include "fuselage/base/error.h"
#include "tests/cuda/gemm_matrix.h"

namespace fuselage::cuda::blas_test {
namespace {

constexpr DType kReals[] = {DType::f32, DType::bf16, DType::f16};

class BlasTest : public CudaTest {};

/// Rows of a product, of the matrix's type.
class TypedRows {
 public:
  TypedRows(const TestMatrix& matrix, DType dtype, const std::vector<float>& rows,
            std::int64_t columns, std::int64_t stride) {
    const auto count = static_cast<std::int64_t>(rows.size()) / columns;
    std::vector<float> numbers(static_cast<std::size_t>(count * stride));
    for (std::int64_t r = 0; r < count; ++r)
      std::transform(rows.begin() + r * columns, rows.begin() + (r + 1) * columns,
                     numbers.begin() + r * stride, [&](float x) { return matrix.rounded(x); });
    if (dtype == DType::f32) {
      floats_.emplace(numbers);
      return;
    }
    std::vector<std::uint16_t> bits;
    for (const float x : numbers)
      bits.push_back(dtype == DType::bf16 ? float_to_bfloat16(x) : float_to_half(x));
    halves_.emplace(bits);
  }

  const void* data() const {
    return floats_ ? static_cast<const void*>(floats_->data()) : halves_->data();
  }

 private:
  std::optional<DeviceArray<float>> floats_;
  std::optional<DeviceArray<std::uint16_t>> halves_;
};

struct Want {
  const TestMatrix& matrix;
  const std::vector<float>& x;  ///< contiguous rows
  const float* bias = nullptr;
  bool relu = false;

  double at(std::int64_t r, std::int64_t c) const {
    double sum = bias ? bias[c] : 0;
    for (std::int64_t i = 0; i < matrix.k(); ++i)
      sum +=
          double{matrix.rounded(x[static_cast<std::size_t>(r * matrix.k() + i)])} * matrix.at(i, c);
    return relu ? std::max(sum, 0.0) : sum;
  }
};

void expect_near(const Want& want, const Result& got, std::int64_t rows, double error) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < want.matrix.n(); ++c)
      ASSERT_NEAR(got.row(r)[static_cast<std::size_t>(c)], want.at(r, c), error)
          << "row " << r << ", column " << c;
  EXPECT_TRUE(got.others_untouched());
}

struct Shape {
  std::int64_t rows, k, n;
};
constexpr Shape kShapes[] = {{1, 1, 1}, {3, 7, 5}, {17, 33, 31}, {70, 64, 130}, {130, 250, 16}};

TEST_F(BlasTest, MultipliesRowsOfAnyType) {
  Blas blas;
  for (const DType dtype : kReals)
    for (const auto& [rows, k, n] : kShapes)
      for (const bool padded : {false, true}) {
        SCOPED_TRACE(::testing::Message() << to_string(dtype) << " [" << rows << ", " << k
                                          << "] by " << n << (padded ? ", padded" : ""));
        const TestMatrix matrix(dtype, k, n, 1);
        const std::int64_t stride = padded ? matrix.device()->stride : k;
        const std::vector<float> x = random_floats(static_cast<std::size_t>(rows * k), 2);
        const TypedRows typed(matrix, dtype, x, k, stride);
        Result out(rows, n, n + 3);
        blas.product(stream(), *matrix.device(),
                     {.x = typed.data(),
                      .x_stride = stride,
                      .rows = rows,
                      .padded = padded,
                      .out = out.rows().data,
                      .out_stride = n + 3});
        out.fetch();
        ASSERT_NO_FATAL_FAILURE(expect_near({matrix, x}, out, rows, 1e-3));
      }
}

TEST_F(BlasTest, LeavesResultsInTheTypeOfTheRows) {
  Blas blas;
  for (const DType dtype : {DType::bf16, DType::f16}) {
    const std::int64_t rows = 5, k = 24, n = 16;
    const TestMatrix matrix(dtype, k, n, 3);
    const std::vector<float> x = random_floats(static_cast<std::size_t>(rows * k), 4);
    const TypedRows typed(matrix, dtype, x, k, k);
    DeviceArray<std::uint16_t> out(static_cast<std::size_t>(rows * n));
    blas.product(stream(), *matrix.device(),
                 {.x = typed.data(),
                  .x_stride = k,
                  .rows = rows,
                  .out = out.data(),
                  .out_stride = n,
                  .out_type = dtype});
    const std::vector<std::uint16_t> got = out.to_host();
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < n; ++c) {
        const std::uint16_t bits = got[static_cast<std::size_t>(r * n + c)];
        const float number = dtype == DType::bf16 ? bfloat16_to_float(bits) : half_to_float(bits);
        const double want = Want{matrix, x}.at(r, c);
        EXPECT_NEAR(number, want, 1e-4 + std::fabs(want) / 256);
      }
  }
}

TEST_F(BlasTest, AddsBiasAndTakesRelu) {
  Blas blas;
  const std::int64_t rows = 6, k = 20, n = 37;
  const std::vector<float> bias = random_floats(static_cast<std::size_t>(n) + 1, 5);
  const DeviceArray<float> device_bias(bias);
  for (const DType dtype : kReals)
    for (const std::size_t shift : {0, 1})  // an unaligned bias takes another way
      for (const bool with_bias : {false, true})
        for (const bool relu : {false, true}) {
          const TestMatrix matrix(dtype, k, n, 6);
          const std::vector<float> x = random_floats(static_cast<std::size_t>(rows * k), 7);
          const TypedRows typed(matrix, dtype, x, k, k);
          Result out(rows, n);
          blas.product(stream(), *matrix.device(),
                       {.x = typed.data(),
                        .x_stride = k,
                        .rows = rows,
                        .out = out.rows().data,
                        .out_stride = n,
                        .bias = with_bias ? device_bias.data() + shift : nullptr,
                        .relu = relu});
          out.fetch();
          ASSERT_NO_FATAL_FAILURE(expect_near(
              {matrix, x, with_bias ? bias.data() + shift : nullptr, relu}, out, rows, 1e-3));
        }
}

TEST_F(BlasTest, SumsOfBytesAreExact) {
  Blas blas;
  for (const auto& [rows, k, n] : kShapes) {
    const TestMatrix matrix(DType::i8, k, n, 8);
    const std::int64_t stride = matrix.device()->stride, out_stride = (n + 15) / 16 * 16;
    std::vector<std::byte> x(static_cast<std::size_t>(rows * stride));
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t i = 0; i < k; ++i)
        x[static_cast<std::size_t>(r * stride + i)] =
            static_cast<std::byte>((r * 37 + i * 11) % 255);
    const DeviceArray<std::byte> device_x(x);
    DeviceArray<std::int32_t> out(static_cast<std::size_t>(rows * out_stride));
    blas.product(stream(), *matrix.device(),
                 {.x = device_x.data(),
                  .x_stride = stride,
                  .rows = rows,
                  .padded = true,
                  .out = out.data(),
                  .out_stride = out_stride,
                  .out_type = DType::i32});
    const std::vector<std::int32_t> got = out.to_host();
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < n; ++c) {
        std::int32_t sum = 0;
        for (std::int64_t i = 0; i < k; ++i)
          sum += static_cast<std::int8_t>(x[static_cast<std::size_t>(r * stride + i)]) *
                 static_cast<std::int32_t>(matrix.at(i, c));
        ASSERT_EQ(got[static_cast<std::size_t>(r * out_stride + c)], sum);
      }
  }
}

TEST_F(BlasTest, Tf32IsLessExactAndNotTheDefault) {
  const std::int64_t rows = 70, k = 200, n = 16;
  const TestMatrix matrix(DType::f32, k, n, 9);
  const std::vector<float> x = random_floats(static_cast<std::size_t>(rows * k), 10);
  const TypedRows typed(matrix, DType::f32, x, k, k);
  double largest[2] = {};
  for (const bool tf32 : {false, true}) {
    Blas blas({.tf32 = tf32});
    Result out(rows, n);
    blas.product(
        stream(), *matrix.device(),
        {.x = typed.data(), .x_stride = k, .rows = rows, .out = out.rows().data, .out_stride = n});
    out.fetch();
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < n; ++c)
        largest[tf32] = std::max(largest[tf32], std::fabs(out.row(r)[static_cast<std::size_t>(c)] -
                                                          Want{matrix, x}.at(r, c)));
  }
  EXPECT_LT(largest[0], 1e-4);
  EXPECT_GT(largest[1], 1e-3);
  EXPECT_LT(largest[1], 0.1);
}

/// The first and the last row of a product of `rows` rows, of which the last is the first again.
std::pair<std::vector<float>, std::vector<float>> ends_of_product(Blas& blas, cudaStream_t stream,
                                                                  const TestMatrix& matrix,
                                                                  DType dtype, std::int64_t rows,
                                                                  const float* bias) {
  const std::int64_t k = matrix.k(), n = matrix.n();
  std::vector<float> x = random_floats(static_cast<std::size_t>(rows * k), 11);
  std::copy_n(x.begin(), k, x.end() - k);
  const TypedRows typed(matrix, dtype, x, k, k);
  Result out(rows, n);
  blas.product(stream, *matrix.device(),
               {.x = typed.data(),
                .x_stride = k,
                .rows = rows,
                .out = out.rows().data,
                .out_stride = n,
                .bias = bias,
                .relu = bias != nullptr});
  out.fetch();
  if (!bias) expect_near({matrix, x}, out, rows, 1e-3);
  return {out.row(0), out.row(rows - 1)};
}

// Beside 264, sizes that are no multiple of 16 or of 8, and of few columns.
TEST_F(BlasTest, BitsOfARowDoNotDependOnTheOthersIfTheyMustNot) {
  Blas blas({.deterministic = true});
  const DeviceArray<float> bias(random_floats(52, 13));
  const Shape shapes[] = {{0, 264, 48}, {0, 256, 48}, {0, 31, 33}, {0, 17, 4}};
  for (const DType dtype : kReals)
    for (const Shape& shape : shapes)
      for (const float* added :
           {static_cast<const float*>(nullptr), bias.data(), bias.data() + 1}) {
        const TestMatrix matrix(dtype, shape.k, shape.n, 12);
        const auto [alone, again] = ends_of_product(blas, stream(), matrix, dtype, 1, added);
        for (const std::int64_t rows : {2, 17, 63, 64, 130, 512, 600}) {
          SCOPED_TRACE(::testing::Message()
                       << rows << " rows by " << shape.k << " of " << to_string(dtype));
          const auto [first, last] = ends_of_product(blas, stream(), matrix, dtype, rows, added);
          EXPECT_TRUE(same_bits(first, alone));
          EXPECT_TRUE(same_bits(last, alone));
        }
      }
}

TEST_F(BlasTest, CanBeCaptured) {
  const std::int64_t rows = 4, k = 16, n = 8;
  const TestMatrix matrix(DType::f32, k, n, 13);
  std::vector<float> x = random_floats(static_cast<std::size_t>(rows * k), 14);
  DeviceArray<float> device_x(x.size());
  Result out(rows, n);
  Blas blas;
  const auto multiply = [&] {
    blas.product(stream(), *matrix.device(),
                 {.x = device_x.data(),
                  .x_stride = k,
                  .rows = rows,
                  .out = out.rows().data,
                  .out_stride = n});
  };
  multiply();
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
  multiply();
  ASSERT_EQ(cudaStreamEndCapture(stream(), &graph), cudaSuccess);
  cudaGraphExec_t ready = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(device_x.data(), x.data(), device_x.size_bytes(), cudaMemcpyHostToDevice),
            cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(ready, stream()), cudaSuccess);
  out.fetch();
  expect_near({matrix, x}, out, rows, 1e-3);
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
}

TEST_F(BlasTest, RefusesWhatDoesNotFit) {
  Blas blas;
  const TestMatrix matrix(DType::f32, 4, 4, 15), bytes(DType::i8, 4, 4, 16);
  DeviceArray<float> memory(64);
  const auto refuses = [&](const TestMatrix& w, const Product& product) {
    EXPECT_THROW(blas.product(stream(), *w.device(), product), InternalError);
  };
  Product product{
      .x = memory.data(), .x_stride = 4, .rows = 2, .out = memory.data() + 32, .out_stride = 4};
  product.out_type = DType::bf16;
  refuses(matrix, product);
  product.out_type = DType::f32;
  product.x_stride = 3;
  refuses(matrix, product);
  product.x_stride = 4;
  product.out_stride = 3;
  refuses(matrix, product);
  product.out_stride = 16;
  refuses(bytes, product);  // f32
  product.out_type = DType::i32;
  refuses(bytes, product);  // not padded
  product.rows = 0;
  blas.product(stream(), *bytes.device(), product);
}

}  // namespace
}  // namespace fuselage::cuda::blas_test
