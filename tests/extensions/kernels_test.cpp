// Kernels of another project. The kernel is written as its author would: this file includes no
// header of the CPU back-end but those of kernels.

#include <gmock/gmock.h>

#include "fuselage/backends/cpu/kernels/kernel_registry.h"
#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/base/error.h"
#include "tests/extensions/ops.h"
#include "tests/extensions/program.h"

// Headers for authors of kernels include no other library and not the back-end's inner parts.
#if defined(HIGHWAY_HWY_BASE_H_) || defined(EIGEN_CORE_H) || defined(YAML_CPP_API)
#error "headers of kernels include Highway, Eigen or yaml-cpp"
#endif

namespace fuselage {
namespace {

using support::random_weights_of;
using support::run_step;
using support::step_graph;
using support::step_kernels;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::ThrowsMessage;

/// The square, under a name of this file: its kernel is for the whole process.
struct KernelSquare {
  static constexpr std::string_view kName = "ext_kernel_square";
};

/// The square of f32 vectors.
void run_square(const PlannedInstruction& in, const cpu::Run& run) {
  const cpu::RowsIn x = cpu::rows_in(in, run, 0);
  const cpu::RowsOut out = cpu::rows_out(in, run);
  const std::size_t columns = cpu::cols_of(in);
  for (std::size_t r = 0; r < cpu::rows_of(in, run); ++r)
    for (std::size_t c = 0; c < columns; ++c) {
      const float value = cpu::row_of(x, r, columns)[c];
      out.data[r * out.stride + c] = value * value;
    }
}

cpu::KernelEntry entry(std::string_view op, std::string_view name) {
  return {{.op = op, .name = name, .reads = {Reads::view}},
          cpu::make_kernel<cpu::PlainKernel<run_square>>};
}

/// The sigmoid plus one, by the back-end's vector functions.
struct KernelShifted {
  static constexpr std::string_view kName = "ext_kernel_shifted";
};

void run_shifted(const PlannedInstruction& in, const cpu::Run& run) {
  const cpu::SimdFunctions& simd = cpu::simd_functions(run);
  const cpu::RowsOut out = cpu::rows_out(in, run);
  const std::size_t rows = cpu::rows_of(in, run), columns = cpu::cols_of(in);
  simd.unary(cpu::Unary::sigmoid, cpu::rows_in(in, run, 0), rows, columns, out);
  constexpr float kOne = 1;
  simd.binary(cpu::Binary::add, {.data = out.data, .stride = out.stride, .columns = columns},
              {.data = &kOne, .columns = 1}, rows, columns, out);
}

class ExtensionKernels : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    register_ops({define<KernelSquare>({.summary = "x²",
                                        .operands = {{"x"}},
                                        .traits = Trait::row_wise | Trait::elementwise,
                                        .infer = infer_row,
                                        .evaluate_f32 = support::evaluate_square<float>,
                                        .evaluate_f64 = support::evaluate_square<double>})});
  }
};

TEST_F(ExtensionKernels, AreRefused) {
  const auto refused = [](std::vector<cpu::KernelEntry> entries, const char* message) {
    const std::size_t before = cpu::kernel_set().size();
    EXPECT_THAT([&] { cpu::register_kernels(entries); }, ThrowsMessage<Error>(HasSubstr(message)));
    EXPECT_EQ(cpu::kernel_set().size(), before);
  };
  refused({entry("ext_kernel_squire", "fast")},
          "runs 'ext_kernel_squire', which is no op; did you mean");
  refused({entry("ext_kernel_square", "")}, "a kernel of 'ext_kernel_square' has no name");
  refused({{{.op = "ext_kernel_square", .name = "fast"}}}, "no factory function");
  refused({entry("ext_kernel_square", "twice"), entry("ext_kernel_square", "twice")},
          "two kernels of 'ext_kernel_square' are called 'twice'");
  refused({entry("matmul", "packed_gemm")}, "two kernels of 'matmul' are called 'packed_gemm'");
}

TEST_F(ExtensionKernels, ComeBeforeTheBackEndsKernels) {
  const Graph graph =
      step_graph(33, "%p = matmul(%x, %w)\n%y = ext_kernel_square(%p)\nreturn y = %y");
  const TensorMap weights = random_weights_of(graph);
  const auto before = support::fused_executable(graph, weights);
  EXPECT_THAT(step_kernels(*before), Contains(Pair("reference", 1)));
  const std::vector<float> want = run_step(*before);
  const cpu::KernelEntry kernels[] = {entry("ext_kernel_square", "ext_fast_square")};
  cpu::register_kernels(kernels);
  const auto after = support::fused_executable(graph, weights);
  EXPECT_THAT(step_kernels(*after), Contains(Pair("ext_fast_square", 1)));
  EXPECT_TRUE(after->notes().empty());
  EXPECT_EQ(run_step(*after), want);
  EXPECT_THAT([&] { cpu::register_kernels(kernels); },
              ThrowsMessage<Error>(HasSubstr("'ext_fast_square'")));
}

TEST_F(ExtensionKernels, UseTheVectorFunctionsOfRows) {
  register_ops({define<KernelShifted>({.summary = "sigmoid(x) + 1",
                                       .operands = {{"x"}},
                                       .traits = Trait::row_wise | Trait::elementwise,
                                       .infer = infer_row,
                                       .evaluate_f32 = support::evaluate_square<float>,
                                       .evaluate_f64 = support::evaluate_square<double>})});
  cpu::register_kernels({{{.op = KernelShifted::kName, .name = "shifted", .reads = {Reads::view}},
                          cpu::make_kernel<cpu::PlainKernel<run_shifted>>}});
  const auto outputs = [](const std::string& y) {
    const Graph graph = step_graph(33, "%p = matmul(%x, %w)\n" + y + "\nreturn y = %y");
    return run_step(*support::fused_executable(graph, random_weights_of(graph)));
  };
  const std::vector<float> got = outputs("%y = ext_kernel_shifted(%p)");
  EXPECT_EQ(got.size(), 66u);
  EXPECT_EQ(got, outputs("%one = constant() {dims = [1], values = [1]}\n%s = sigmoid(%p)\n"
                         "%y = add(%s, %one)"));
}

}  // namespace
}  // namespace fuselage
