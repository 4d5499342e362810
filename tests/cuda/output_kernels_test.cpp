// Kernels of output layers in plans, against the reference evaluation.

#include <cstdlib>

#include "backends/cuda/device/output/logit_layers.h"
#include "tests/cuda/gemm_program.h"

namespace fuselage::cuda::output_kernels_test {
namespace {

constexpr std::string_view kLists = R"(domain list = shortlist of sentence
domain choice = pairs of hyp, list
map list.word : list -> vocab
)";

class OutputKernelsTest : public ProgramTest {};

TEST_F(OutputKernelsTest, KBestReadsSelectionsAndSlices) {
  expect_as_reference(R"(%x = import() {name = "x", domain = sentence, dims = [2100]}
%s = slice(%x) {begin = 3, end = 2004}
%h = select_rows(%s) {via = [hyp.parent, parent.sentence]}
%a, %i = k_best(%x) {k = 64}
%b, %j = k_best(%h) {k = 1}
%c, %l = k_best(%s) {k = 7}
return a = %a, i = %i, b = %b, j = %j, c = %c, l = %l
)");
}

TEST_F(OutputKernelsTest, LayersByWayOfLogits) {
  for (const std::string_view domain : {"hyp", "prefix"})
    expect_as_reference("%x = import() {name = \"x\", domain = " + std::string(domain) +
                        R"(, dims = [21]}
%w = param() {name = "W", dims = [21, 1501]}
%t = param() {name = "T", dims = [33, 21]}
%b = param() {name = "b", dims = [1501]}
%a, %i = linear_k_best(%x, %w, %b) {k = 6}
%c, %j = linear_k_best(%x, %t) {k = 1, transposed = true, log_softmax = false}
%d, %k, %n = linear_k_best(%x, %t) {k = 2, transposed = true, normalizer = true}
return a = %a, i = %i, c = %c, j = %j, d = %d, k = %k, n = %n
)");
}

/// A layer with memory for the logits of two rows.
std::unique_ptr<Kernel> make_in_chunks(const PlannedInstruction& in, const Binding& binding) {
  std::vector<LogitLayers::Member> only{{.operands = GemmOperands(in, binding), .bias = 2}};
  return std::make_unique<LogitLayers>(std::move(only), true, 2 * 152 * 4);
}

TEST_F(OutputKernelsTest, RowsGoInChunksWhereLogitsAreLarge) {
  registry_.insert(registry_.begin(), {"output_layer", make_in_chunks});
  for (const std::string_view x : {"%x", "%h", "%p"})
    expect_as_reference(R"(%x = import() {name = "x", domain = hyp, dims = [21]}
%y = import() {name = "y", domain = sentence, dims = [21]}
%p = import() {name = "p", domain = prefix, dims = [21]}
%h = select_rows(%y) {via = [hyp.parent, parent.sentence]}
%w = param() {name = "W", dims = [21, 150]}
%b = param() {name = "b", dims = [150]}
%a, %i, %n = linear_k_best()" +
                        std::string(x) +
                        R"(, %w, %b) {k = 6, normalizer = true}
return a = %a, i = %i, n = %n
)");
}

TEST_F(OutputKernelsTest, LayersOfIntegers) {
  for (const std::string_view dtype : {"qint8", "qint16"}) {
    const std::string type(dtype);
    const std::string largest = type == "qint8" ? "127" : "8191";
    expect_as_reference(R"(%x = import() {name = "x", domain = hyp, dims = [21]}
%w = param() {name = "W", dims = [300, 21], dtype = )" +
                        type + R"(}
%b = param() {name = "b", dims = [300]}
%q = quantize(%x) {to = )" +
                        type + ", largest = " + largest + R"(}
%a, %i = linear_k_best(%q, %w, %b) {k = 5, transposed = true}
return a = %a, i = %i
)");
  }
}

/// Rows are rounded to the matrix's type, so scores differ slightly.
TEST_F(OutputKernelsTest, LayersOf16Bits) {
  for (const char* unmeasured : {"never", "if_faster", "always"}) {
    setenv("FUSELAGE_CUDA_UNMEASURED", unmeasured, 1);
    for (const std::string_view domain : {"hyp", "prefix"})
      for (const std::string_view dtype : {"bf16", "f16"})
        expect_as_reference("%x = import() {name = \"x\", domain = " + std::string(domain) +
                                R"(, dims = [21]}
%w = param() {name = "W", dims = [21, 501], dtype = )" +
                                std::string(dtype) + R"(}
%b = param() {name = "b", dims = [501]}
%a, %i = linear_k_best(%x, %w, %b) {k = 6}
return a = %a
)",
                            0.1);
  }
  unsetenv("FUSELAGE_CUDA_UNMEASURED");
}

TEST_F(OutputKernelsTest, LongRowsOfBf16HaveLogits) {
  expect_as_reference(R"(%x = import() {name = "x", domain = hyp, dims = [4000]}
%w = param() {name = "W", dims = [4000, 70], dtype = bf16}
%a, %i = linear_k_best(%x, %w) {k = 2}
return a = %a
)",
                      1);
}

TEST_F(OutputKernelsTest, EnsemblesRankByTheSumOfTheirScores) {
  expect_as_reference(R"(%x = import() {name = "x", domain = hyp, dims = [21]}
%y = import() {name = "y", domain = sentence, dims = [9]}
%w = param() {name = "W", dims = [21, 1100]}
%t = param() {name = "T", dims = [1100, 9]}
%b = param() {name = "b", dims = [1100]}
%h = select_rows(%y) {via = [hyp.parent, parent.sentence]}
%a, %i = ensemble_k_best(%x, %w, %b, %h, %t) {k = 6, weights = [0.75, 2.5], )"
                      R"(biased = [1, 0], transposed = [0, 1]}
return a = %a, i = %i
)",
                      1e-3);
}

/// A shortlist layer with the given first operands.
std::string shortlist_layer(std::string_view operands, std::int64_t k, std::string_view more) {
  return "shortlist_k_best(" + std::string(operands) + ") {k = " + std::to_string(k) +
         ", to = [choice.left], words = [choice.right, list.word]" + std::string(more) + "}\n";
}

TEST_F(OutputKernelsTest, ShortlistsOfEveryLength) {
  lists_ = {{0, 2, 3}, {1}, {0, 1, 2, 3, 4}};
  for (const std::string more : {"", ", log_softmax = false"})
    expect_as_reference(std::string(kLists) +
                        R"(%x = import() {name = "x", domain = hyp, dims = [21]}
%w = param() {name = "W", domain = vocab, dims = [21]}
%u = param() {name = "U", dims = [21, 5]}
%b = param() {name = "b", dims = [5]}
%a, %i = )" + shortlist_layer("%x, %w, %b", 3, ", transposed = true" + more) +
                        "%c, %j = " + shortlist_layer("%x, %u", 1, more) +
                        "return a = %a, i = %i, c = %c, j = %j\n");
}

TEST_F(OutputKernelsTest, SampledProductsOfListsOfEveryLength) {
  lists_ = {{0, 2, 3}, {1}, {0, 1, 2, 3, 4}};
  const std::string to = " {to = [choice.left], words = [choice.right, list.word]";
  expect_as_reference(std::string(kLists) +
                      R"(%x = import() {name = "x", domain = hyp, dims = [21]}
%w = param() {name = "W", domain = vocab, dims = [21]}
%u = param() {name = "U", dims = [21, 5]}
%b = param() {name = "b", dims = [5]}
%a = sampled_matmul(%x, %w, %b))" +
                      to + R"(, transposed = true}
%c = sampled_matmul(%x, %u))" +
                      to + "}\nreturn a = %a, c = %c\n");
}

TEST_F(OutputKernelsTest, ShortlistsOfAllTypes) {
  lists_ = {{0, 2, 3}, {1, 4}, {0, 1, 2, 3, 4}};
  const auto layer = [](std::string_view dtype, const std::string& x) {
    return "%w = param() {name = \"W\", dims = [5, 21], dtype = " + std::string(dtype) +
           "}\n%a, %i = " + shortlist_layer(x + ", %w", 2, ", transposed = true") +
           "return a = %a, i = %i\n";
  };
  const std::string x =
      std::string(kLists) + "%x = import() {name = \"x\", domain = hyp, dims = [21]}\n";
  expect_as_reference(x + layer("bf16", "%x"));
  expect_as_reference(x + "%q = quantize(%x)\n" + layer("qint8", "%q"));
  expect_as_reference(x + "%q = quantize(%x) {to = qint16, largest = 8191}\n" +
                      layer("qint16", "%q"));
}

}  // namespace
}  // namespace fuselage::cuda::output_kernels_test
