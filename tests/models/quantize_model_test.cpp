#include "models/quantized/quantize_model.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "fuselage/base/error.h"
#include "fuselage/graph/text.h"
#include "fuselage/graph/verifier.h"
#include "fuselage/ops/registry.h"
#include "graph/traversal.h"

namespace fuselage::quantize_model_test {
namespace {

Tensor numbers(std::vector<std::int64_t> shape) {
  Tensor tensor(DType::f32, std::move(shape));
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    tensor.mutable_data<float>()[i] = static_cast<float>((i * 37) % 101 - 50) / 8;
  return tensor;
}

/// A table, a matrix, a matrix that is read transposed, a bias, and a matrix of one column.
Model small_model() {
  Model model;
  model.graph = parse_graph(R"(fuselage.graph 1
domain words = vocabulary 5
domain sentence = sentence
domain src = source of sentence
map src.word : src -> words
%e = param() {name = "e", domain = words, dims = [4]}
%w = param() {name = "w", dims = [4, 3]}
%t = param() {name = "t", dims = [6, 3]}
%b = param() {name = "b", dims = [3]}
%v = param() {name = "v", dims = [6, 1]}
%x = select_rows(%e) {via = [src.word]}
%h = matmul(%x, %w)
%a = add(%h, %b)
%y = matmul(%a, %t) {transposed = true}
%z = matmul(%y, %v)
return z = %z
)",
                            "test", all_ops());
  model.weights = {{"e", numbers({5, 4})},
                   {"w", numbers({4, 3})},
                   {"t", numbers({6, 3})},
                   {"b", numbers({3})},
                   {"v", numbers({6, 1})}};
  return model;
}

TEST(QuantizeWeights, StoresMatricesByTheirVectorsAndNothingElse) {
  const Model plain = small_model();
  Model model = small_model();
  const StoredWeights report = store_matrices(model, MatrixStorage{.quantizer = Quantizer{}});
  verify(model.graph);
  ASSERT_EQ(report.matrices.size(), 3u);
  EXPECT_EQ(report.bytes_before, 4u * (20 + 12 + 18 + 3 + 6));
  EXPECT_EQ(report.bytes_after, 20u + 12 + 18 + 4 * (5 + 3 + 6) + 4 * (3 + 6));
  for (const StoredMatrix& matrix : report.matrices) {
    EXPECT_GT(matrix.largest_error, 0);
    EXPECT_LE(matrix.largest_error, 0.5 / 127 + 1e-6);
  }
  // Columns of a product's matrix share a scale, and so do rows of what is read transposed.
  EXPECT_EQ(model.weights.at("w").shape(), (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(model.weights.at("t").shape(), (std::vector<std::int64_t>{6, 3}));
  for (const char* name : {"e", "w", "t"})
    EXPECT_EQ(model.weights.at(name).dtype(), DType::qint8) << name;
  for (const char* name : {"b", "v"}) EXPECT_EQ(model.weights.at(name).dtype(), DType::f32) << name;
  const Tensor columns = model.weights.at("w").to_f32();
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 3; ++j)
      EXPECT_NEAR(columns.data<float>()[j * 4 + i], plain.weights.at("w").data<float>()[i * 3 + j],
                  0.5 * 6.25 / 127 + 1e-6);
}

constexpr Quantizer kLog4{.to = DType::qlog4, .largest = 128};

TEST(QuantizeWeights, TellsOfEachMatrix) {
  Model model = small_model();
  Quantizer largest = kLog4;
  largest.fit = ScaleFit::largest;
  const StoredWeights report =
      store_matrices(model, MatrixStorage{.quantizer = kLog4, .alternatives = {largest, kLog4}});
  ASSERT_EQ(report.matrices.size(), 3u);
  const StoredMatrix& table = report.matrices[0];
  EXPECT_EQ(table.name, "e");
  EXPECT_EQ(table.shape, (std::vector<std::int64_t>{5, 4}));
  std::int64_t beyond = 0;  // of the eighths that `numbers` makes
  for (std::int64_t i = 0; i < 20; ++i) beyond += std::abs((i * 37) % 101 - 50) > 8;
  EXPECT_EQ(table.beyond_clipping, beyond);
  for (const StoredMatrix& matrix : report.matrices) {
    ASSERT_EQ(matrix.alternatives.size(), 2u);
    EXPECT_GT(matrix.squared_error, 0);
    EXPECT_LT(matrix.squared_error, 0.06);  // a third of each number would be 0.11
    EXPECT_LE(matrix.squared_error, matrix.alternatives[0]);
    EXPECT_EQ(matrix.squared_error, matrix.alternatives[1]);
  }
}

TEST(QuantizeWeights, GivesAWholeMatrixOneScale) {
  Model model = small_model();
  store_matrices(model, MatrixStorage{.quantizer = kLog4, .one_scale = true});
  const Tensor& columns = model.weights.at("w");
  ASSERT_EQ(columns.dtype(), DType::qlog4);
  const std::size_t stride = vector_bytes(DType::qlog4, 4);
  EXPECT_GT(scale_of(columns.bytes()), 0);
  for (std::size_t i = 1; i < 3; ++i)
    EXPECT_EQ(scale_of(columns.bytes() + i * stride), scale_of(columns.bytes()));
}

TEST(QuantizeWeights, StoresBfloat16AsMatricesLie) {
  const Model plain = small_model();
  Model model = small_model();
  const StoredWeights report = store_matrices(model, MatrixStorage{});
  verify(model.graph);
  EXPECT_EQ(report.bytes_after, 2u * (20 + 12 + 18) + 4 * (3 + 6));
  for (const char* name : {"e", "w", "t"}) {
    EXPECT_EQ(model.weights.at(name).dtype(), DType::bf16) << name;
    EXPECT_EQ(model.weights.at(name).shape(), plain.weights.at(name).shape()) << name;
  }
  for (const StoredMatrix& matrix : report.matrices)
    EXPECT_LE(matrix.largest_error, 0x1p-8) << matrix.name;
}

constexpr Quantizer kInt8{};

/// A matrix as the numbers that it stands for, as a product reads it.
std::vector<float> numbers_of(const Tensor& tensor) {
  const Tensor wide = tensor.to_f32();
  return {wide.data<float>(), wide.data<float>() + wide.size()};
}

TEST(QuantizeWeights, StoresEachMatrixAsItsNameSays) {
  const Model plain = small_model();
  Model model = small_model();
  const auto storage_of = [](const std::string& name) -> MatrixStorage {
    if (name == "e") return {.quantizer = kInt8};
    if (name == "t") return {.floats = DType::f32};
    return {.quantizer = Quantizer{.to = DType::qlog4, .largest = 128, .bits = 2}};
  };
  EXPECT_EQ(matrix_names(model), (std::vector<std::string>{"e", "t", "w"}));
  const StoredWeights report = store_matrices(model, storage_of);
  verify(model.graph);
  EXPECT_EQ(matrix_names(model), (std::vector<std::string>{"e", "t", "w"}));
  EXPECT_EQ(model.weights.at("e").dtype(), DType::qint8);
  EXPECT_EQ(model.weights.at("w").dtype(), DType::qlog4);
  EXPECT_EQ(numbers_of(model.weights.at("t")), numbers_of(plain.weights.at("t")));
  ASSERT_EQ(report.matrices.size(), 3u);
  for (const StoredMatrix& matrix : report.matrices) {
    EXPECT_EQ(matrix.to, model.weights.at(matrix.name).dtype());
    EXPECT_EQ(matrix.bits, matrix.name == "e" ? 8 : matrix.name == "t" ? 32 : 2) << matrix.name;
  }
  EXPECT_EQ(report.matrices[1].bytes, 3u * (1 + 2)) << "4 numbers of 2 bits and a scale";
  // A second time: integers of 8 bits stay, and others are made anew from their numbers.
  Model again = model;
  EXPECT_EQ(store_matrices(again, storage_of).kept, 1);
  EXPECT_TRUE(same_graph(again.graph, model.graph));
  // In floats again.
  const StoredWeights widened = store_matrices(again, MatrixStorage{.floats = DType::f32});
  for (const StoredMatrix& matrix : widened.matrices) {
    EXPECT_EQ(matrix.from, model.weights.at(matrix.name).dtype()) << matrix.name;
    EXPECT_EQ(matrix.squared_error, 0) << matrix.name;
  }
  EXPECT_TRUE(same_graph(again.graph, plain.graph)) << print_graph(again.graph);
}

TEST(QuantizeWeights, FitsIntegersOfFourBits) {
  Model model = small_model();
  const MatrixStorage linear{.quantizer = Quantizer{.largest = 7}, .fits_integers = true};
  MatrixStorage largest = linear;
  largest.fits_integers = false;
  const StoredWeights report = store_matrices(model, linear);
  Model other = small_model();
  const StoredWeights by_largest = store_matrices(other, largest);
  ASSERT_EQ(report.matrices.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(report.matrices[i].to, DType::qint8);
    EXPECT_EQ(report.matrices[i].bits, 4);
    EXPECT_LE(report.matrices[i].squared_error, 1.02 * by_largest.matrices[i].squared_error);
  }
  // 8 bits hold 4, but 4 do not hold 8.
  EXPECT_EQ(store_matrices(model, MatrixStorage{.quantizer = kInt8}).kept, 3);
  Model eight = small_model();
  store_matrices(eight, MatrixStorage{.quantizer = kInt8});
  EXPECT_EQ(store_matrices(eight, linear).kept, 0);
}

TEST(QuantizeStoredWeights, StoresTheNumbersThatIntegersStandFor) {
  Model stored = small_model();
  store_matrices(stored, MatrixStorage{.quantizer = kInt8});
  // The same model in f32, with the numbers that its integers stand for.
  Model plain = small_model();
  for (const char* name : {"e", "t"}) plain.weights[name] = stored.weights.at(name).to_f32();
  const Tensor columns = stored.weights.at("w").to_f32();
  Tensor w(DType::f32, {4, 3});
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 3; ++j)
      w.mutable_data<float>()[i * 3 + j] = columns.data<float>()[j * 4 + i];
  plain.weights["w"] = w;
  const StoredWeights expected = store_matrices(plain, MatrixStorage{.quantizer = kLog4});
  const StoredWeights report = store_matrices(stored, MatrixStorage{.quantizer = kLog4});
  verify(stored.graph);
  EXPECT_TRUE(same_graph(stored.graph, plain.graph)) << print_graph(stored.graph);
  ASSERT_EQ(report.matrices.size(), 3u);
  EXPECT_EQ(report.kept, 0);
  EXPECT_EQ(report.bytes_before, expected.bytes_before);
  for (const StoredMatrix& matrix : report.matrices) {
    EXPECT_EQ(matrix.from, DType::qint8) << matrix.name;
    EXPECT_GT(matrix.squared_error, 0) << matrix.name;
    EXPECT_EQ(stored.weights.at(matrix.name).dtype(), DType::qlog4);
    EXPECT_EQ(numbers_of(stored.weights.at(matrix.name)),
              numbers_of(plain.weights.at(matrix.name)));
  }
}

TEST(QuantizeStoredWeights, KeepsWhatHasThePrecisionAlready) {
  for (const MatrixStorage& storage : {MatrixStorage{.quantizer = kInt8}, MatrixStorage{}}) {
    Model model = small_model();
    store_matrices(model, storage);
    const Model before = model;
    const StoredWeights report = store_matrices(model, storage);
    EXPECT_TRUE(report.matrices.empty());
    EXPECT_EQ(report.kept, 3);
    EXPECT_TRUE(same_graph(model.graph, before.graph));
    for (const auto& [name, tensor] : before.weights)
      EXPECT_EQ(model.weights.at(name).bytes(), tensor.bytes()) << name;
  }
}

TEST(QuantizeStoredWeights, StoresLogarithmicNumbersAgainWithoutALoss) {
  Model model = small_model();
  store_matrices(model, MatrixStorage{.quantizer = kLog4});
  const Model before = model;
  const StoredWeights report = store_matrices(model, MatrixStorage{.quantizer = kLog4});
  EXPECT_EQ(report.matrices.size(), 3u);
  EXPECT_TRUE(same_graph(model.graph, before.graph)) << print_graph(model.graph);
  for (const auto& [name, tensor] : before.weights)
    EXPECT_EQ(numbers_of(model.weights.at(name)), numbers_of(tensor)) << name;
}

TEST(QuantizeStoredWeights, WidensBfloat16) {
  Model model = small_model();
  store_matrices(model, MatrixStorage{});
  const StoredWeights report = store_matrices(model, MatrixStorage{.quantizer = kInt8});
  verify(model.graph);
  ASSERT_EQ(report.matrices.size(), 3u);
  for (const StoredMatrix& matrix : report.matrices) EXPECT_EQ(matrix.from, DType::bf16);
  EXPECT_EQ(model.weights.at("w").shape(), (std::vector<std::int64_t>{3, 4}));
}

/// As Marian's integers are read.
TEST(QuantizeStoredWeights, WidensMatricesThatProductsReadAsTheyAre) {
  Model model;
  model.graph = parse_graph(R"(fuselage.graph 1
%x = param() {name = "x", dims = [4]}
%w = param() {name = "w", dims = [3, 4], dtype = qint8}
%y = matmul(%x, %w) {transposed = true}
return y = %y
)",
                            "test", all_ops());
  model.weights = {{"x", numbers({4})}, {"w", quantized(kInt8, numbers({3, 4}))}};
  const StoredWeights report = store_matrices(model, MatrixStorage{.quantizer = kLog4});
  verify(model.graph);
  ASSERT_EQ(report.matrices.size(), 1u);
  EXPECT_EQ(report.matrices[0].from, DType::qint8);
  EXPECT_EQ(model.weights.at("w").dtype(), DType::qlog4);
  EXPECT_EQ(model.weights.at("w").shape(), (std::vector<std::int64_t>{3, 4}));
  EXPECT_THAT(print_graph(model.graph), ::testing::HasSubstr("{transposed = true}"));
}

TEST(QuantizeStoredWeights, RefusesIntegersThatTheModelMultiplies) {
  Model model;
  model.graph = parse_graph(R"(fuselage.graph 1
%x = param() {name = "x", dims = [4]}
%w = param() {name = "w", dims = [3, 4], dtype = qint8}
%q = quantize(%x)
%y = matmul(%q, %w) {transposed = true}
return y = %y
)",
                            "test", all_ops());
  model.weights = {{"x", numbers({4})}, {"w", quantized(kInt8, numbers({3, 4}))}};
  EXPECT_EQ(store_matrices(model, MatrixStorage{.quantizer = kInt8}).kept, 1);
  EXPECT_THAT([&] { store_matrices(model, MatrixStorage{.quantizer = kLog4}); },
              ::testing::ThrowsMessage<Error>(::testing::HasSubstr("parameter 'w' is stored as")));
}

}  // namespace
}  // namespace fuselage::quantize_model_test
