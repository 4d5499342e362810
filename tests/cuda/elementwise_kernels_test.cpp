#include "backends/cuda/device/elementwise/elementwise_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cuda/element_functions.h"
#include "backends/cuda/elementwise_source.h"
#include "fuselage/ops/fused/chains.h"
#include "fuselage/ops/registry.h"
#include "tests/cuda/op_program.h"

namespace fuselage::cuda {
namespace {

using ElementKernelsTest = OpTest;

std::vector<const OpDef*> elementwise_ops() {
  std::vector<const OpDef*> ops;
  for (const OpDef* op : all_ops().all())
    if (op->has(Trait::elementwise) && !declares<op::Expression>(*op)) ops.push_back(op);
  return ops;
}

/// The operands of an op among two values: the first, both, or the first, the second, the first.
std::string operands_of(const OpDef& op, std::string_view a, std::string_view b) {
  if (op.operands.size() == 1) return std::string(a);
  if (op.operands.size() == 2) return fmt::format("{}, {}", a, b);
  return fmt::format("{}, {}, {}", a, b, a);
}

/// An expression with a result for each op, of x0 and x1.
ElementwiseExpression expression_of(std::span<const OpDef* const> ops) {
  std::string text;
  for (const OpDef* op : ops)
    text +=
        fmt::format("{}{}({})", text.empty() ? "" : "; ", op->name, operands_of(*op, "x0", "x1"));
  return parse_expression(text);
}

TEST_F(ElementKernelsTest, EveryElementwiseOp) {
  for (const OpDef* op : elementwise_ops()) {
    ASSERT_FALSE(element_function(op->name).empty()) << op->name;
    expect_as_reference(fmt::format(R"ir(%x = import() {{name = "pos_x", domain = hyp, dims = [33]}}
%z = import() {{name = "z", domain = hyp, dims = [33]}}
%y = {}({})
return y = %y
)ir",
                                    op->name, operands_of(*op, "%x", "%z")),
                        33);
  }
}

/// Special values of ops.
std::vector<float> special_numbers() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> numbers = {0.0f, -0.0f, kInfinity, -kInfinity, 1e-40f, 7.74f, 7.76f, -7.76f};
  for (float x = -12; x <= 12; x += 0.37f) numbers.push_back(x);
  for (const float x : {1e-10f, 88.0f, -88.0f, 104.0f, 3e38f, -3e38f}) numbers.push_back(x);
  numbers.push_back(std::numeric_limits<float>::quiet_NaN());
  while (numbers.size() % 4 != 0) numbers.push_back(0.25f);
  return numbers;
}

/// The reference value of an elementwise op of two numbers, as operands_of() orders them.
template <typename T>
T evaluated(const OpDef& op, float a, float b) {
  static const Graph graph = graph_of("");
  static const RowTable rows(graph);
  const Node node{.op = &op};
  EvalContext<T> context{.graph = graph, .node = node, .rows = rows};
  Array<T> left(1, 1), right(1, 1);
  left.data[0] = static_cast<T>(a);
  right.data[0] = static_cast<T>(b);
  context.operands = {&left};
  if (op.operands.size() > 1) context.operands.push_back(&right);
  if (op.operands.size() > 2) context.operands.push_back(&left);
  context.results.emplace_back(1, 1);
  if constexpr (std::is_same_v<T, float>)
    op.evaluate_f32(context);
  else
    op.evaluate_f64(context);
  return context.results[0].data[0];
}

/// Library functions may differ in the last bits; other ops must give the same bits.
bool is_exact(const OpDef& op) {
  constexpr std::string_view kLibrary[] = {"sigmoid", "tanh", "swish", "gelu",
                                           "exp",     "log",  "sin",   "cos"};
  return std::find(std::begin(kLibrary), std::end(kLibrary), op.name) == std::end(kLibrary);
}

void expect_as_defined(const OpDef& op, float a, float b, float got) {
  const float want = evaluated<float>(op, a, b);
  if (std::isnan(want)) {
    EXPECT_TRUE(std::isnan(got)) << op.name << " of " << a << " and " << b;
  } else if (is_exact(op)) {
    EXPECT_EQ(got, want) << op.name << " of " << a << " and " << b;
  } else if (std::isinf(want)) {
    EXPECT_EQ(got, want) << op.name << " of " << a;
  } else {
    EXPECT_NEAR(got, want, 2e-6 * std::max(1.0f, std::fabs(want))) << op.name << " of " << a;
  }
}

TEST_F(ElementKernelsTest, SpecialNumbersOneByOneAndInFours) {
  const std::vector<float> x = special_numbers(), z(x.rbegin(), x.rend());
  const std::vector<const OpDef*> all = elementwise_ops();
  const auto stride = static_cast<std::int32_t>(x.size());
  DeviceArray<float> a(x), b(z);
  DeviceArray<std::int32_t> live(1, 1);
  for (std::size_t begin = 0; begin < all.size(); begin += kMaxElementResults) {
    const auto ops =
        std::span(all).subspan(begin, std::min(all.size() - begin, kMaxElementResults));
    const CompiledExpression kernel(expression_of(ops), {false, false});
    for (const std::int32_t columns : {stride, stride - 1}) {
      DeviceArray<float> y(ops.size() * x.size(), -1);
      std::vector<FloatsOut> results;
      for (std::size_t i = 0; i < ops.size(); ++i)
        results.push_back({.floats = {.data = y.data() + i * x.size(), .stride = stride}});
      const RowsIn operands[] = {{.data = a.data(), .stride = stride, .columns = columns},
                                 {.data = b.data(), .stride = stride, .columns = columns}};
      kernel.launch(stream(), {live.data(), 1}, columns, operands, results);
      const std::vector<float> got = y.to_host();
      for (std::size_t i = 0; i < ops.size(); ++i)
        for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c)
          expect_as_defined(*ops[i], x[c], z[c], got[i * x.size() + c]);
    }
  }
}

/// Halves between two numbers, subnormal ones and those of no range, in 16 bits.
TEST_F(ElementKernelsTest, ResultsMayBeRoundedOneByOneAndInFours) {
  std::vector<float> x = special_numbers();
  for (int exponent = -30; exponent <= 17; ++exponent)
    for (const float factor : {1.0f, 1 + 0x1p-11f, 1 + 0x3p-11f, 1 + 0x1p-8f, 1 + 0x3p-8f,
                               1 + 0x1p-10f + 0x1p-23f, 2 - 0x1p-11f, 2 - 0x1p-12f})
      x.push_back((exponent % 2 == 0 ? factor : -factor) * std::ldexp(1.0f, exponent));
  while (x.size() % 4 != 0) x.push_back(0);
  const auto stride = static_cast<std::int32_t>(x.size());
  DeviceArray<float> a(x);
  DeviceArray<std::int32_t> live(1, 1);
  for (const bool is_bf16 : {true, false}) {
    const CompiledExpression kernel(
        parse_expression("t0 = neg(x0); neg(t0); t0"), {false},
        {{.floats = false, .rounded = true, .is_bf16 = is_bf16}, {.is_bf16 = is_bf16}});
    for (const std::int32_t columns : {stride, stride - 1}) {
      DeviceArray<std::uint16_t> y(x.size());
      DeviceArray<float> z(x.size());
      const RowsIn operands[] = {{.data = a.data(), .stride = stride, .columns = columns}};
      const FloatsOut results[] = {{.rounded = {.data = y.data(), .stride = stride}},
                                   {.floats = {.data = z.data(), .stride = stride}}};
      kernel.launch(stream(), {live.data(), 1}, columns, operands, results);
      const std::vector<std::uint16_t> got = y.to_host();
      const std::vector<float> floats = z.to_host();
      for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c) {
        const std::uint16_t want = is_bf16 ? float_to_bfloat16(x[c]) : float_to_half(x[c]);
        if (std::isnan(x[c])) {
          EXPECT_TRUE(std::isnan(is_bf16 ? bfloat16_to_float(got[c]) : half_to_float(got[c])));
          continue;
        }
        EXPECT_EQ(got[c], want) << x[c];
        EXPECT_EQ(floats[c], -x[c]);
      }
    }
  }
}

TEST_F(ElementKernelsTest, ExpressionOfViewsScalarsAndSeveralResults) {
  expect_for_all(R"ir(%e = param() {name = "E", domain = vocab, dims = [$n]}
%w = select_rows(%e) {via = [hyp.word]}
%h = import() {name = "h", domain = hyp, dims = [$n]}
%s = import() {name = "s", domain = hyp, dims = [1]}
%b = param() {name = "b", dims = [$n]}
%y, %z = pointwise(%w, %h, %s, %b) {expression = "t0 = sigmoid(add(x0, mul(x2, x1))); add(mul(sub(x3, t0), x3), 0.25); t0"}
return y = %y, z = %z
)ir");
}

TEST_F(ElementKernelsTest, WidthsThatAreFours) {
  for (const int columns : {4, 8, 36, 1028})
    for (const int hypotheses : {0, 1, 33})
      expect_as_reference(with(R"ir(%e = param() {name = "E", domain = vocab, dims = [$n]}
%d = param() {name = "d", dims = [$n]}
%w = select_rows(%e, %d) {via = [hyp.word]}
%p = import() {name = "p", domain = prefix, dims = [$n]}
%h = import() {name = "h", domain = hyp, dims = [$n]}
%s = import() {name = "s", domain = hyp, dims = []}
%y = pointwise(%w, %h, %s) {expression = "max(tanh(add(x0, x1)), x2)"}
%z = tanh(%p)
return y = %y, z = %z
)ir",
                               "$n", columns),
                          hypotheses);
}

TEST_F(ElementKernelsTest, SlicesAreReadWhereTheyLie) {
  for (const int columns : {1, 5, 32, 257})
    for (const int begin : {0, 3, 4})
      expect_as_reference(with(with(with(R"ir(%x = import() {name = "x", domain = hyp, dims = [600]}
%a = slice(%x) {begin = $b, end = $e}
%e = param() {name = "E", domain = vocab, dims = [600]}
%w = select_rows(%e) {via = [hyp.word]}
%c = slice(%w) {begin = $b, end = $e}
%y = sub(%a, %c)
%z = pointwise(%c, %a) {expression = "mul(x0, tanh(x1))"}
return y = %y, z = %z
)ir",
                                         "$b", begin),
                                    "$e", begin + columns),
                               "$n", columns),
                          33);
}

// As in a linear layer that computes its product in the result's memory.
TEST_F(ElementKernelsTest, ResultsMayLieWhereOperandsDo) {
  const CompiledExpression kernel(parse_expression("t0 = add(x0, x1); mul(t0, x0); t0"),
                                  {false, true});
  for (const std::int32_t columns : {5, 32}) {
    constexpr std::int32_t kRows = 9;
    const auto width = static_cast<std::size_t>(columns);
    std::vector<float> numbers(kRows * width);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
    DeviceArray<float> x(numbers), sums(numbers.size());
    DeviceArray<float> bias(std::vector{3.0f});
    DeviceArray<std::int32_t> live(1, kRows - 1);
    const RowsIn operands[] = {{.data = x.data(), .stride = columns, .columns = columns},
                               {.data = bias.data(), .stride = 0, .columns = 1}};
    const FloatsOut results[] = {{.floats = {.data = x.data(), .stride = columns}},
                                 {.floats = {.data = sums.data(), .stride = columns}}};
    kernel.launch(stream(), {live.data(), kRows}, columns, operands, results);
    const std::vector<float> got = x.to_host(), sum = sums.to_host();
    for (std::size_t i = 0; i < got.size(); ++i) {
      const bool is_live = i < (kRows - 1) * width;
      EXPECT_EQ(got[i], is_live ? (numbers[i] + 3) * numbers[i] : numbers[i]);
      EXPECT_EQ(sum[i], is_live ? numbers[i] + 3 : 0);
    }
  }
}

}  // namespace
}  // namespace fuselage::cuda
