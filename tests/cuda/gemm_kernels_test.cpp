// Kernels of products in plans, against the reference evaluation.

#include <fmt/format.h>

#include "tests/cuda/gemm_program.h"

namespace fuselage::cuda {
namespace {

class GemmKernelsTest : public ProgramTest {
 protected:
  /// Column c of a word's row, with a table T of the rows of ranks 0 and 1.
  double looked_up(std::int32_t word, std::size_t c, bool ranked) {
    if (word < 0) return 0;
    const auto entry = static_cast<std::size_t>(word);
    const double row = ranked ? rank_[entry] : word;
    if (row >= 0 && row < 2) return inputs()["T"][static_cast<std::size_t>(row) * 20 + c];
    double sum = 0;
    for (std::size_t i = 0; i < 6; ++i)
      sum += inputs()["E"][entry * 6 + i] * inputs()["W"][i * 20 + c];
    return sum;
  }
};

TEST_F(GemmKernelsTest, GemmTakesMatricesBothWays) {
  expect_as_reference(R"IR(%x = import() {name = "x", domain = hyp, dims = [7]}
%w = param() {name = "W", dims = [7, 19]}
%t = param() {name = "T", dims = [5, 7]}
%y = matmul(%x, %w)
%z = matmul(%x, %t) {transposed = true}
return y = %y, z = %z
)IR");
}

TEST_F(GemmKernelsTest, GemmTakesVectorsOfAMatrixARow) {
  expect_as_reference(R"IR(%x = import() {name = "x", domain = source, dims = [3, 6]}
%w = param() {name = "W", dims = [6, 4]}
%y = matmul(%x, %w)
return y = %y
)IR");
}

TEST_F(GemmKernelsTest, GemmTakesAValueWithoutRows) {
  expect_as_reference(R"IR(%x = param() {name = "x", dims = [6]}
%w = param() {name = "W", dims = [6, 4]}
%y = matmul(%x, %w)
return y = %y
)IR");
}

TEST_F(GemmKernelsTest, GemmReadsSelectionsAndSlices) {
  expect_as_reference(R"IR(%x = import() {name = "x", domain = sentence, dims = [20]}
%e = param() {name = "E", domain = vocab, dims = [8]}
%d = param() {name = "d", dims = [8]}
%w = param() {name = "W", dims = [8, 17]}
%xs = slice(%x) {begin = 3, end = 11}
%xh = select_rows(%xs) {via = [hyp.parent, parent.sentence]}
%eh = select_rows(%e, %d) {via = [hyp.word]}
%ed = select_rows(%e) {via = [hyp.word]}
%a = matmul(%xs, %w)
%b = matmul(%xh, %w)
%c = matmul(%eh, %w)
%f = matmul(%ed, %w)
return a = %a, b = %b, c = %c, f = %f
)IR");
}

TEST_F(GemmKernelsTest, GemmComputesTheNewRowsOfAPrefix) {
  expect_as_reference(R"IR(%x = import() {name = "x", domain = prefix, dims = [9]}
%w = param() {name = "W", dims = [9, 11]}
%v = param() {name = "V", dims = [11, 6]}
%y = matmul(%x, %w)
%z = matmul(%y, %v)
return z = %z
)IR");
}

TEST_F(GemmKernelsTest, GemmTakesMatricesOfBf16) {
  expect_as_reference(R"IR(%x = import() {name = "x", domain = hyp, dims = [33]}
%w = param() {name = "W", dims = [33, 10], dtype = bf16}
%y = matmul(%x, %w)
return y = %y
)IR",
                      0.1);
}

TEST_F(GemmKernelsTest, GemmTakesQuantizedMatrices) {
  for (const auto& [dtype, largest] : {std::pair("qint8", 127), std::pair("qint16", 8191)})
    expect_as_reference(fmt::format(R"IR(%x = import() {{name = "x", domain = source, dims = [21]}}
%w = param() {{name = "W", dims = [12, 21], dtype = {0}}}
%q = quantize(%x) {{to = {0}, largest = {1}}}
%y = matmul(%q, %w) {{transposed = true}}
%z = matmul(%x, %w) {{transposed = true}}
return y = %y, z = %z
)IR",
                                    dtype, largest));
}

TEST_F(GemmKernelsTest, RowDotTakesAMatrixOfOneColumn) {
  expect_as_reference(R"IR(%x = import() {name = "x", domain = cross, dims = [37]}
%v = param() {name = "v", dims = [37, 1]}
%u = param() {name = "u", dims = [1, 37]}
%y = matmul(%x, %v)
%z = matmul(%x, %u) {transposed = true}
return y = %y, z = %z
)IR");
}

TEST_F(GemmKernelsTest, LookupGemmTakesRowsFromItsTable) {
  // The table's rows are not the products, so that results show the source of each row.
  rank_ = {1, -1, 7, 0, 2};
  for (const bool ranked : {false, true}) {
    run_graph(fmt::format(R"IR(%e = param() {{name = "E", domain = vocab, dims = [6]}}
%w = param() {{name = "W", dims = [6, 20]}}
%t = param() {{name = "T", dims = [2, 20]}}
%r = param() {{name = "r", domain = vocab, dims = [], dtype = i32}}
%y = lookup_matmul(%e, %w, %t{}) {{via = [hyp.word]}}
return y = %y
)IR",
                          ranked ? ", %r" : ""));
    const std::vector<float> got = new_rows(0);
    ASSERT_EQ(got.size(), 20 * words_.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], looked_up(words_[i / 20], i % 20, ranked), 1e-4) << "element " << i;
  }
}

TEST_F(GemmKernelsTest, LookupGemmTakesQuantizedRows) {
  run_graph(R"IR(%e = param() {name = "E", domain = vocab, dims = [6], dtype = qint8}
%w = param() {name = "W", dims = [20, 6], dtype = qint8}
%t = param() {name = "T", dims = [2, 20]}
%y = lookup_matmul(%e, %w, %t) {transposed = true, via = [hyp.word]}
return y = %y
)IR");
  const std::vector<float> got = new_rows(0);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::int32_t word = words_[i / 20];
    const std::size_t entry = static_cast<std::size_t>(std::max(word, 0)), c = i % 20;
    double want = 0;
    if (word >= 0 && word < 2)
      want = inputs()["T"][entry * 20 + c];
    else if (word >= 0)
      for (std::size_t j = 0; j < 6; ++j)
        want += inputs()["E"][entry * 6 + j] * inputs()["W"][c * 6 + j];
    EXPECT_NEAR(got[i], want, 1e-4) << "word " << word << ", column " << c;
  }
}

/// Expressions that are fused as an epilogue, and others.
TEST_F(GemmKernelsTest, LinearRunsItsExpressionOnTheProduct) {
  for (const std::string_view expression :
       {"add(x0, x1)", "add(x1, x0)", "relu(add(x0, x1))", "tanh(add(x0, x1))", "sub(x0, x1)",
        "add(relu(x0), x1)", "t0 = add(x0, x1); relu(t0); t0"})
    for (const std::string_view domain : {"hyp", "prefix"}) {
      const bool two = expression.ends_with("; t0");
      expect_as_reference(fmt::format(R"IR(%x = import() {{name = "x", domain = {}, dims = [10]}}
%w = param() {{name = "W", dims = [10, 18]}}
%b = param() {{name = "b", dims = [18]}}
%y{} = linear(%x, %w, %b) {{expression = "{}"}}
return y = %y{}
)IR",
                                      domain, two ? ", %z" : "", expression,
                                      two ? ", z = %z" : ""));
    }
}

TEST_F(GemmKernelsTest, LinearTakesFurtherOperandsOfManyForms) {
  expect_as_reference(R"IR(%x = import() {name = "x", domain = hyp, dims = [10]}
%w = param() {name = "W", dims = [18, 10]}
%s = import() {name = "s", domain = sentence, dims = [18]}
%g = import() {name = "g", domain = hyp, dims = [1]}
%a = select_rows(%s) {via = [hyp.parent, parent.sentence]}
%y = linear(%x, %w, %a, %g) {transposed = true, expression = "mul(sigmoid(add(x0, x1)), x2)"}
%z = linear(%x, %w) {transposed = true, expression = "relu(x0)"}
%u = linear(%x, %w, %a) {transposed = true, expression = "add(x0, x1)"}
return y = %y, z = %z, u = %u
)IR");
}

TEST_F(GemmKernelsTest, LinearTakesQuantizedOperands) {
  expect_as_reference(R"IR(%x = import() {name = "x", domain = prefix, dims = [21]}
%w = param() {name = "W", dims = [12, 21], dtype = qint8}
%b = param() {name = "b", dims = [12]}
%q = quantize(%x)
%y = linear(%q, %w, %b) {transposed = true, expression = "relu(add(x0, x1))"}
return y = %y
)IR");
}

/// Rows of 16-bit floats, in place, of earlier steps, and through an index.
TEST_F(GemmKernelsTest, RowsMayBeRounded) {
  constexpr std::string_view kInputs = R"IR(%x = import() {{name = "x", domain = hyp, dims = [48]}}
%s = import() {{name = "s", domain = source, dims = [2, 16]}}
%w = param() {{name = "W", dims = [48, 18], dtype = {0}}}
%v = param() {{name = "V", dims = [18, 16], dtype = {0}}}
%b = param() {{name = "b", dims = [18]}}
%r = quantize(%x) {{to = {0}}}
%p = import() {{name = "p", domain = prefix, dims = [48]}}
%h = quantize(%p) {{to = {0}}}
%t = quantize(%s) {{to = {0}}}
)IR";
  for (const std::string_view type : {"bf16", "f16"})
    for (const std::string_view product :
         {"matmul(%r, %w)", "linear(%h, %w, %b) {expression = \"add(x0, x1)\"}",
          "linear(%r, %w, %b) {expression = \"tanh(add(x0, x1))\"}",
          "matmul(%t, %v) {transposed = true}"})
      expect_as_reference(fmt::format(fmt::runtime(kInputs), type) +
                          fmt::format("%y = {}\nreturn y = %y\n", product));
}

/// Nodes that round their results, with floats that others read and without.
TEST_F(GemmKernelsTest, ResultsMayBeRounded) {
  for (const std::string_view type : {"bf16", "f16"})
    for (const std::string_view domain : {"hyp", "prefix"})
      expect_as_reference(fmt::format(
          R"IR(%x = import() {{name = "x", domain = {1}, dims = [32]}}
%z = import() {{name = "z", domain = {1}, dims = [32]}}
%g = param() {{name = "g", dims = [32]}}
%f = param() {{name = "f", dims = [32, 32]}}
%w = param() {{name = "W", dims = [32, 18], dtype = {0}}}
%p, %p16 = pointwise(%x, %z) {{expression = "tanh(add(x0, x1))", quantized = [0], to = {0}}}
%q, %r, %r16 = pointwise(%x, %z) {{expression = "t0 = add(x0, x1); t1 = mul(t0, x0); t0; t1", quantized = [1], to = {0}}}
%n, %s, %s16, %n16 = add_layer_norm(%x, %z, %g) {{epsilon = 0.01, quantized = [1, 0], to = {0}}}
%m, %t, %m16 = add_rms_norm(%x, %z, %g) {{epsilon = 0.01, quantized = [0], to = {0}}}
%l, %l16 = linear(%x, %f, %g) {{expression = "relu(add(x0, x1))", quantized = [0], to = {0}}}
%k, %k16 = linear(%x, %f, %g) {{expression = "sigmoid(add(x0, x1))", quantized = [0], to = {0}}}
%a = matmul(%p16, %w)
%b = matmul(%r16, %w)
%c = matmul(%s16, %w)
%d = matmul(%n16, %w)
%e = matmul(%m16, %w)
%h = matmul(%l16, %w)
%i = matmul(%k16, %w)
return a = %a, b = %b, c = %c, d = %d, e = %e, h = %h, i = %i, q = %q, s = %s, l = %l
)IR",
          type, domain));
}

TEST_F(GemmKernelsTest, MixturesMayBeRounded) {
  for (const std::string_view type : {"bf16", "f16"})
    expect_as_reference(fmt::format(R"IR(%q = import() {{name = "pos_q", domain = hyp, dims = [48]}}
%k = import() {{name = "pos_k", domain = source, dims = [48]}}
%x = import() {{name = "x", domain = source, dims = [32]}}
%v = param() {{name = "v", dims = [48, 1]}}
%w = param() {{name = "W", dims = [32, 18], dtype = {0}}}
%a, %b, %c = dot_attention(%q, %k, %x) {{left = [cross.left], right = [cross.right], heads = 4, scale = 0.25, quantized = [1], to = {0}}}
%d, %e, %f = additive_attention(%q, %k, %v, %x) {{left = [cross.left], right = [cross.right], quantized = [1], to = {0}}}
%y = matmul(%c, %w)
%z = matmul(%f, %w)
return y = %y, z = %z, e = %e
)IR",
                                    type),
                        // A number between two of 16 bits may be rounded up as a float and down as
                        // a double.
                        0.02);
}

TEST_F(GemmKernelsTest, LinearMakesWiderRowsOfAProductOfOneColumn) {
  expect_as_reference(R"IR(%x = import() {name = "x", domain = hyp, dims = [10]}
%w = param() {name = "W", dims = [10, 1]}
%b = param() {name = "b", dims = [7]}
%y = linear(%x, %w, %b) {expression = "add(x0, x1)"}
return y = %y
)IR");
}

}  // namespace
}  // namespace fuselage::cuda
