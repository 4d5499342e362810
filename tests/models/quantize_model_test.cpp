#include "models/quantize_model.h"

#include <gtest/gtest.h>

#include "graph/text.h"
#include "graph/verifier.h"
#include "ops/registry.h"

namespace fuselage {
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
  const QuantizedWeights report = quantize_weights(model, {});
  verify(model.graph);
  EXPECT_EQ(report.matrices, 3u);
  EXPECT_LT(report.bytes_after, report.bytes_before);
  EXPECT_GT(report.largest_error, 0);
  EXPECT_LE(report.largest_error, 0.5 / 127 + 1e-6);
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

}  // namespace
}  // namespace fuselage
