// The kernels of the CUDA back-end, which plans are made of without CUDA.

#include <set>

#include "backends/cuda/kernel_table.h"
#include "fuselage/backends/backend.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/error.h"
#include "fuselage/graph/text.h"
#include "fuselage/ops/registry.h"
#include "fuselage/passes/lowering/split_by_binding_time.h"
#include "support.h"

namespace fuselage::cuda_kernels_test {
namespace {

using support::toy_model;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

constexpr std::string_view kDeclarations = R"(fuselage.graph 1
domain words = vocabulary 100
domain sentence = sentence
domain source = source of sentence
domain parent = parent of sentence
domain hyp = hypothesis of parent
domain list = shortlist of sentence
domain pairs = pairs of hyp, list
domain prefix = prefix of hyp
domain own = pairs of hyp, prefix
map hyp.word : hyp -> words partial
map list.word : list -> words
%table = param() {name = "table", domain = words, dims = [12]}
%v = param() {name = "v", dims = [12, 1]}
%w = param() {name = "w", dims = [12, 100]}
%half = param() {name = "half", dims = [12, 100], dtype = bf16}
%bytes = param() {name = "bytes", dims = [100, 12], dtype = qint8}
%nibbles = param() {name = "nibbles", dims = [100, 12], dtype = qlog4}
%x = select_rows(%table) {via = [hyp.word]}
)";

Graph graph_of(std::string_view equations) {
  return parse_graph(std::string(kDeclarations) + std::string(equations), "test", all_ops());
}

/// The kernel of the last node.
std::string kernel_of(std::string_view equation) {
  const Graph graph = graph_of("%unused = tanh(%x)\n" + std::string(equation));
  return describe(choose_kernel(graph, graph.node(graph.nodes().back()), cuda::cuda_kernels()));
}

TEST(CudaKernels, RunEveryOpThatASearchNeeds) {
  // Those of the load program, which the CPU runs.
  const std::set<std::string_view> without{"constant", "import", "param"};
  for (const OpDef* op : all_ops().all()) {
    bool has_kernel = false;
    for (const KernelInfo* kernel : cuda::cuda_kernels()) has_kernel |= kernel->op == op->name;
    EXPECT_EQ(has_kernel, !without.contains(op->name)) << op->name;
  }
}

TEST(CudaKernels, RunAWholeModel) {
  for (const char* passes : {"none", "all"}) {
    Graph graph = toy_model(5).graph;
    optimize(graph, {.passes = passes});
    const Programs programs = split_by_binding_time(graph);
    for (const Graph* program : {&programs.source, &programs.step}) {
      EXPECT_THAT(nodes_without_kernel(*program, cuda::cuda_kernels()), IsEmpty()) << passes;
      const ProgramPlan plan = plan_program(*program, cuda::cuda_kernels());
      EXPECT_EQ(plan.outputs.size(), program->outputs().size());
    }
  }
}

TEST(CudaKernels, AreNotThereForWholeLayersThatMustBeDeterministicOrInFewBits) {
  for (const CompileOptions& options :
       {CompileOptions{}, CompileOptions{.backend = "reference"},
        CompileOptions{.backend = "cuda", .cuda = {.deterministic = true}},
        CompileOptions{.backend = "cuda", .precision = Precision::int8}})
    for (const Pass& pass : make_optimizer(options).passes)
      EXPECT_NE(pass.name, "fuse_recurrence")
          << options.backend << " " << to_string(options.precision.value_or(Precision::fp32));
}

TEST(CudaKernels, MultiplyByTheTypeOfTheMatrix) {
  EXPECT_EQ(kernel_of("%y = matmul(%x, %w)\n"), "gemm");
  EXPECT_EQ(kernel_of("%y = matmul(%x, %half)\n"), "gemm");
  EXPECT_EQ(kernel_of("%y = matmul(%x, %v)\n"), "row_dot (gemm: its matrix has one column)");
  EXPECT_EQ(kernel_of("%q = quantize(%x)\n%y = matmul(%q, %bytes) {transposed = true}\n"), "gemm");
  EXPECT_THAT(kernel_of("%q = quantize(%x)\n%y = matmul(%q, %nibbles) {transposed = true}\n"),
              HasSubstr("no kernel (gemm: it multiplies with no matrices of qlog4)"));
  EXPECT_THAT(kernel_of("%q = quantize(%x) {to = qint16, largest = 8191}\n"
                        "%y = matmul(%q, %bytes) {transposed = true}\n"),
              HasSubstr("no kernel (gemm: its operands are quantized differently)"));
}

TEST(CudaKernels, MultiplyByStoredMatricesAlone) {
  constexpr std::string_view kNone = "no kernel (gemm: its matrix is not stored";
  EXPECT_THAT(kernel_of("%z = add(%w, %w)\n%y = matmul(%x, %z)\n"), HasSubstr(kNone));
  EXPECT_THAT(kernel_of("%z = add(%w, %w)\n%y = linear(%x, %z) {expression = \"tanh(x0)\"}\n"),
              "no kernel (gemm_elements: its matrix is not stored)");
  EXPECT_THAT(kernel_of("%z = add(%w, %w)\n%best, %word = linear_k_best(%x, %z) {k = 4}\n"),
              AllOf(HasSubstr("no kernel"), HasSubstr("its matrix is not stored")));
  EXPECT_THAT(kernel_of("%z = add(%v, %v)\n%y = matmul(%x, %z)\n"), HasSubstr("row_dot"));
}

TEST(CudaKernels, ComputeExpressionsOfNumbersThatF32Has) {
  EXPECT_EQ(kernel_of("%y = pointwise(%x) {expression = \"add(x0, 1e38)\"}\n"), "elements");
  EXPECT_EQ(kernel_of("%y = pointwise(%x) {expression = \"add(x0, 1e39)\"}\n"),
            "no kernel (elements: 1e+39 is not a finite f32)");
  EXPECT_EQ(kernel_of("%y = linear(%x, %w) {expression = \"add(x0, 1e38)\"}\n"), "gemm_elements");
  EXPECT_EQ(kernel_of("%y = linear(%x, %w) {expression = \"add(x0, 1e39)\"}\n"),
            "no kernel (gemm_elements: 1e+39 is not a finite f32)");
}

TEST(CudaKernels, MayKeepLogitsOutOfMemoryForMatricesOf16Bits) {
  EXPECT_EQ(kernel_of("%best, %word = linear_k_best(%x, %half) {k = 64}\n"), "fused_output");
  EXPECT_EQ(kernel_of("%best, %word = linear_k_best(%x, %w) {k = 64}\n"),
            "output_layer (fused_output: it multiplies with matrices of bf16 or f16)");
  EXPECT_THAT(kernel_of("%best, %word = linear_k_best(%x, %half) {k = 65}\n"),
              AllOf(HasSubstr("no kernel"), HasSubstr("the best 64 at most, not 65")));
  EXPECT_THAT(kernel_of("%best, %word = linear_k_best(%x, %nibbles) {k = 1, transposed = true}\n"),
              AllOf(HasSubstr("no kernel"), HasSubstr("matrices of qlog4")));
}

TEST(CudaKernels, OfInt8AreSlowerThanThoseOfBf16WhichANoteSays) {
  EXPECT_THAT(find_backend("cuda").notes({.precision = Precision::int8}),
              ElementsAre(HasSubstr("use precision bf16")));
  EXPECT_THAT(find_backend("cuda").notes({.precision = Precision::bf16}), IsEmpty());
  EXPECT_THAT(find_backend("cpu").notes({.precision = Precision::int8}), IsEmpty());
}

TEST(CudaKernels, OfElementsTakeValuesOfAnyDimensions) {
  EXPECT_EQ(kernel_of("%y = tanh(%x)\n"), "elements");
  EXPECT_EQ(kernel_of("%y = add(%x, %x)\n"), "elements");
  EXPECT_EQ(kernel_of("%y = add(%w, %w)\n"), "elements");
}

TEST(CudaKernels, RankWordsOfShortlists) {
  const std::string scores =
      "%l = matmul(%x, %w)\n"
      "%s = select_elements(%l) {row = [pairs.left], element = [pairs.right, list.word]}\n"
      "%p = segment_log_softmax(%s) {to = [pairs.left]}\n";
  const auto best = [](int k) {
    return "%best, %word = segment_k_best(%p) {k = " + std::to_string(k) +
           ", to = [pairs.left], words = [pairs.right, list.word]}\n";
  };
  EXPECT_EQ(kernel_of(scores), "segment_log_softmax");
  EXPECT_EQ(kernel_of(scores + best(64)), "segment_k_best");
  EXPECT_EQ(kernel_of(scores + best(65)),
            "no kernel (segment_k_best: it finds the best 64 at most, not 65)");
}

TEST(CudaKernels, RoundRowsUnlikeTheCpus) {
  const Graph graph = graph_of("%q = quantize(%x) {to = f16}\nreturn q = %q\n");
  EXPECT_THAT(nodes_without_kernel(graph, cuda::cuda_kernels()), IsEmpty());
  EXPECT_THAT(nodes_without_kernel(graph, find_backend("cpu").kernels(BindingTime::step)),
              ElementsAre(HasSubstr("it rounds no rows to 16 bits")));
}

/// The names of the kernels that a plan of `equations` runs.
std::vector<std::string> planned_kernels(std::string_view equations) {
  std::vector<std::string> names;
  for (const PlannedNode& node :
       planned_nodes(plan_program(graph_of(equations), cuda::cuda_kernels())))
    if (node.launched) names.push_back(node.kernel);
  return names;
}

constexpr std::string_view kSelfAttention = R"(%new_keys = tanh(%x)
%new_values = exp(%x)
%keys = history(%new_keys) {domain = prefix}
%values = history(%new_values) {domain = prefix}
%a, %m = dot_attention(%x, %keys, %values) {left = [own.left], right = [own.right], heads = 2}
)";

TEST(CudaKernels, AttentionAppendsKeysAndValues) {
  const std::string attention(kSelfAttention);
  EXPECT_THAT(planned_kernels(attention + "return m = %m\n"),
              ElementsAre("copy_rows", "elements", "elements", "dot_attention"));
  const ProgramPlan plan =
      plan_program(graph_of(attention + "return m = %m\n"), cuda::cuda_kernels());
  const PlannedInstruction& last = plan.instructions.back();
  ASSERT_THAT(last.appended, SizeIs(2));
  for (const AppendedRows& rows : last.appended) {
    const Buffer& kept = plan.buffers[last.operands[rows.operand].buffer];
    const Buffer& added = plan.buffers[rows.rows.buffer];
    EXPECT_EQ(plan.graph.domain(kept.domain).kind, DomainKind::prefix);
    EXPECT_EQ(kept.last, kForever);
    EXPECT_EQ(plan.graph.domain(added.domain).kind, DomainKind::hypothesis);
    EXPECT_EQ(added.last, plan.instructions.size() - 1) << "it lives until it is appended";
  }
}

// With rows of floats, which the kernel rounds; rows that are rounded already are copied.
TEST(CudaKernels, AttentionAppendsKeysAndValuesInHalves) {
  std::string attention(kSelfAttention);
  for (std::size_t at = 0; (at = attention.find("prefix}", at)) != std::string::npos; at += 20)
    attention.insert(at + 6, ", to = bf16");
  EXPECT_THAT(planned_kernels(attention + "return m = %m\n"),
              ElementsAre("copy_rows", "elements", "elements", "rounded_dot_attention"));
  const ProgramPlan plan =
      plan_program(graph_of(attention + "return m = %m\n"), cuda::cuda_kernels());
  const PlannedInstruction& last = plan.instructions.back();
  ASSERT_THAT(last.appended, SizeIs(2));
  for (const AppendedRows& rows : last.appended)
    EXPECT_EQ(plan.buffers[last.operands[rows.operand].buffer].row_elements * 2,
              plan.buffers[rows.rows.buffer].row_elements);
  const std::string_view rounded = R"(%k = quantize(%x) {to = f16}
%keys = history(%k) {domain = prefix}
%a, %m = dot_attention(%x, %keys, %keys) {left = [own.left], right = [own.right], heads = 2}
return m = %m
)";
  EXPECT_THAT(planned_kernels(rounded),
              ElementsAre("copy_rows", "quantize_rows", "append_rows", "rounded_dot_attention"));
}

TEST(CudaKernels, AttentionReadsKeysAndValuesOfOneType) {
  const auto kernel = [](std::string_view keys, std::string_view values) {
    const Graph graph =
        graph_of("%keys = history(%x) {domain = prefix" + std::string(keys) +
                 "}\n%values = history(%x) {domain = prefix" + std::string(values) +
                 "}\n%a, %m = dot_attention(%x, %keys, %values) {left = [own.left], right "
                 "= [own.right], heads = 2}\nreturn m = %m\n");
    return nodes_without_kernel(graph, cuda::cuda_kernels());
  };
  constexpr std::string_view kBf16 = ", to = bf16", kF16 = ", to = f16";
  EXPECT_THAT(kernel("", ""), IsEmpty());
  EXPECT_THAT(kernel(kF16, kF16), IsEmpty());
  for (const auto& [keys, values] : {std::pair{kBf16, kF16}, {kBf16, ""}, {"", kF16}})
    EXPECT_THAT(kernel(keys, values),
                ElementsAre(AllOf(HasSubstr("dot_attention"), HasSubstr("it reads f32"),
                                  HasSubstr("of one type of 16-bit floats"))));
}

TEST(CudaKernels, AttentionAppendsNoHistoryThatIsReadElsewhere) {
  const std::string attention(kSelfAttention);
  const auto appends = [](const std::string& equations) {
    const auto kernels = planned_kernels(equations);
    return std::count(kernels.begin(), kernels.end(), "append_rows");
  };
  EXPECT_EQ(appends(attention + "return m = %m, keys = %keys\n"), 1) << "an output";
  EXPECT_EQ(appends(attention + "%n = tanh(%values)\n"
                                "%b, %c = dot_attention(%x, %n, %n) {left = [own.left], "
                                "right = [own.right], heads = 2}\n"
                                "return m = %m, c = %c\n"),
            1)
      << "another reader";
  EXPECT_EQ(appends(attention + "%b, %c = dot_attention(%x, %keys, %values) {left = [own.left], "
                                "right = [own.right], heads = 2}\n"
                                "return m = %m, c = %c\n"),
            2)
      << "two attentions";
}

TEST(CudaKernels, AllNodesWithoutAKernelAreNamed) {
  const Graph graph = graph_of(
      "%q = quantize(%x)\n"
      "%y = matmul(%q, %nibbles) {transposed = true}\n"
      "%best, %word = k_best(%y) {k = 65}\n"
      "return best = %best, word = %word\n");
  EXPECT_THAT(nodes_without_kernel(graph, cuda::cuda_kernels()), SizeIs(2));
  EXPECT_THAT([&] { plan_program(graph, cuda::cuda_kernels()); },
              ThrowsMessage<Error>(AllOf(HasSubstr("matmul 'y'"), HasSubstr("qlog4"),
                                         HasSubstr("k_best"), HasSubstr("not 65"))));
}

}  // namespace
}  // namespace fuselage::cuda_kernels_test
