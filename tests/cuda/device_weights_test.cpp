#include "backends/cuda/device/gemm/device_weights.h"

#include <gmock/gmock.h>

#include <cstring>
#include <random>

#include "backends/cuda/device/gemm/matrix_columns.h"
#include "device_array.h"
#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"
#include "fuselage/ops/builder.h"

namespace fuselage::cuda {
namespace {

using ::testing::HasSubstr;

Tensor random_matrix(std::int64_t rows, std::int64_t cols, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Tensor matrix(DType::f32, {rows, cols});
  for (std::int64_t i = 0; i < matrix.size(); ++i)
    matrix.mutable_data<float>()[i] = uniform(random);
  return matrix;
}

/// Element i of column c as a float, without the scale.
float number_at(const MatrixColumns& columns, std::int64_t c, std::int64_t i) {
  const std::byte* at = columns.numbers.data() +
                        static_cast<std::size_t>(c * columns.stride + i) * size_of(columns.dtype);
  std::uint16_t half;
  std::memcpy(&half, at, sizeof(half));
  switch (columns.dtype) {
    case DType::i8:
      return static_cast<float>(static_cast<std::int8_t>(*at));
    case DType::i16:
      return static_cast<float>(static_cast<std::int16_t>(half));
    case DType::f16:
      return half_to_float(half);
    case DType::bf16:
      return bfloat16_to_float(half);
    default: {
      float number;
      std::memcpy(&number, at, sizeof(number));
      return number;
    }
  }
}

void expect_columns(const Tensor& stored, const MatrixForm& form) {
  const MatrixColumns columns = matrix_columns(stored, form);
  const bool scaled = is_quantized(stored.dtype());
  Tensor expected = stored;
  if (scaled) {
    expected = Tensor(DType::f32, {form.n, form.k});
    for (std::int64_t c = 0; c < form.n; ++c)
      dequantize_vector(
          stored.dtype(),
          stored.bytes() + static_cast<std::size_t>(c) * vector_bytes(stored.dtype(), form.k),
          form.k, expected.mutable_data<float>() + c * form.k);
  }
  expected = expected.to_f32();
  EXPECT_EQ(columns.stride, (form.k + 15) / 16 * 16);
  const std::int64_t n = (form.n + 15) / 16 * 16;
  ASSERT_EQ(columns.numbers.size(),
            static_cast<std::size_t>(n * columns.stride) * size_of(columns.dtype));
  ASSERT_EQ(columns.scales.size(), scaled ? static_cast<std::size_t>(n) : 0u);
  for (std::int64_t c = 0; c < n; ++c)
    for (std::int64_t i = 0; i < columns.stride; ++i) {
      const float scale = scaled ? columns.scales[static_cast<std::size_t>(c)] : 1.0f;
      const std::int64_t at = form.transposed ? c * form.k + i : i * form.n + c;
      const bool inside = c < form.n && i < form.k;
      ASSERT_EQ(scale * number_at(columns, c, i), inside ? expected.data<float>()[at] : 0.0f)
          << "column " << c << " element " << i;
    }
}

TEST(MatrixColumns, StandSideBySideWithZerosBehind) {
  for (const auto& [k, n] :
       {std::pair{1, 1}, std::pair{16, 16}, std::pair{17, 33}, std::pair{40, 7}})
    for (const bool transposed : {false, true}) {
      const Tensor matrix = transposed ? random_matrix(n, k, 1) : random_matrix(k, n, 2);
      for (const Tensor& stored : {matrix, matrix.to_bf16(), matrix.to_f16()})
        expect_columns(stored, {k, n, transposed});
      if (!transposed) continue;
      expect_columns(quantized({.to = DType::qint8}, matrix), {k, n, true});
      expect_columns(quantized({.to = DType::qint16, .largest = kLargestOfInt16Rows}, matrix),
                     {k, n, true});
    }
}

TEST(MatrixColumns, RefusesIntegersWhoseProductsLeave32Bits) {
  const Tensor wide =
      quantized({.to = DType::qint16, .largest = kLargestOfInt16Rows}, random_matrix(3, 1000, 3));
  EXPECT_THROW(matrix_columns(wide, {1000, 3, true}), Error);
}

/// A plan that reads weights "a" [5, 3], "q" of 4-bit numbers and a constant, without instructions.
struct SmallPlan {
  SmallPlan() {
    Builder b("small");
    const ValueId a = b.param("a", {5, 3}).id();
    plan.graph = b.take();
    plan.buffers = {{.kind = Buffer::Kind::weight,
                     .domain = plan.graph.none(),
                     .row_elements = 15,
                     .name = "a",
                     .value = a},
                    {.kind = Buffer::Kind::weight,
                     .domain = plan.graph.none(),
                     .row_elements = 2,
                     .constant = std::make_shared<Tensor>(random_matrix(1, 2, 4))}};
  }
  ProgramPlan plan;
  const BufferView matrix{.buffer = 0, .cols = 15};
  const BufferView constant{.buffer = 1, .cols = 2};
};

class DeviceWeightsTest : public CudaTest {};

std::vector<float> floats_at(const void* data, std::size_t size) {
  std::vector<float> numbers(size);
  expect_success(cudaMemcpy(numbers.data(), data, size * sizeof(float), cudaMemcpyDeviceToHost),
                 "copy of a weight");
  return numbers;
}

TEST_F(DeviceWeightsTest, HoldsEachWeightOnceInEachForm) {
  const Tensor a = random_matrix(5, 3, 5);
  const SmallPlan small, other;
  DeviceWeights weights({{"a", a}, {"unused", a}});
  const std::byte* stored = weights.stored(small.plan, small.plan.buffers[0]);
  EXPECT_EQ(floats_at(stored, 15), std::vector<float>(a.data<float>(), a.data<float>() + 15));
  EXPECT_EQ(weights.stored(other.plan, other.plan.buffers[0]), stored);
  EXPECT_EQ(weights.size_bytes(), 15 * sizeof(float));
  EXPECT_EQ(weights.matrix_bytes(), 0u);

  const auto matrix = weights.matrix(small.plan, small.matrix, {5, 3, false});
  EXPECT_EQ(floats_at(matrix->data, 2)[1], a.data<float>()[3]);
  EXPECT_EQ(weights.matrix(other.plan, other.matrix, {5, 3, false}), matrix);
  EXPECT_NE(weights.matrix(small.plan, small.matrix, {3, 5, true}), matrix);
  EXPECT_EQ(weights.matrix_bytes(), 2 * 16 * 16 * sizeof(float));
  EXPECT_TRUE(weights.has_own_form(small.matrix));
  EXPECT_FALSE(weights.has_own_form(small.constant));
}

TEST_F(DeviceWeightsTest, GivesNumbersForAnotherForm) {
  const Tensor a = random_matrix(5, 3, 5);
  const SmallPlan small;
  DeviceWeights weights({{"a", a}});
  EXPECT_FALSE(weights.has_own_form(small.matrix));
  const Tensor numbers = weights.host_numbers(small.plan, small.matrix);
  EXPECT_EQ(std::vector<float>(numbers.data<float>(), numbers.data<float>() + 15),
            std::vector<float>(a.data<float>(), a.data<float>() + 15));
  EXPECT_TRUE(weights.has_own_form(small.matrix));
  EXPECT_EQ(weights.size_bytes(), 0u);
}

TEST_F(DeviceWeightsTest, HoldsConstants) {
  const SmallPlan small;
  DeviceWeights weights({});
  const Tensor& constant = *small.plan.buffers[1].constant;
  EXPECT_EQ(floats_at(weights.stored(small.plan, small.plan.buffers[1]), 2),
            std::vector<float>(constant.data<float>(), constant.data<float>() + 2));
  const auto matrix = weights.matrix(small.plan, small.constant, {1, 2, false});
  EXPECT_EQ(floats_at(matrix->data, 17)[16], constant.data<float>()[1]);
}

TEST_F(DeviceWeightsTest, SaysWhatIsMissing) {
  const SmallPlan small;
  DeviceWeights weights({});
  try {
    weights.stored(small.plan, small.plan.buffers[0]);
    FAIL() << "a weight that is not there";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("weight 'a', a parameter of the graph, is missing"));
  }
}

TEST_F(DeviceWeightsTest, RefusesLogarithmicMatrices) {
  Builder b("small");
  const ValueId q = b.param("q", {3, 8}, DomainId{0}, DType::qlog4).id();
  ProgramPlan plan;
  plan.graph = b.take();
  plan.buffers = {{.kind = Buffer::Kind::weight,
                   .domain = plan.graph.none(),
                   .row_elements = 6,
                   .name = "q",
                   .value = q}};
  const BufferView view{.buffer = 0, .cols = 6};
  DeviceWeights weights(
      {{"q", quantized({.to = DType::qlog4, .largest = 128}, random_matrix(3, 8, 6))}});
  try {
    weights.matrix(plan, view, {8, 3, true});
    FAIL() << "products of 4-bit numbers";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("weight 'q'"));
    EXPECT_THAT(error.what(), HasSubstr("device cpu"));
  }
}

}  // namespace
}  // namespace fuselage::cuda
