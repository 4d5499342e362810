#include "ops/fused/elementwise_expression.h"

#include <gmock/gmock.h>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(ElementwiseExpression, PrintsWhatItReads) {
  for (const char* text :
       {"tanh(x0)", "sub(1, x3)", "mul(-0.5, add(x1, x0))", "t0 = sigmoid(x0); mul(t0, t0)",
        "t0 = add(x0, x1); t1 = exp(t0); relu(t0); div(t1, add(t1, 1)); t0"})
    EXPECT_EQ(print_expression(parse_expression(text)), text);
}

TEST(ElementwiseExpression, HasANormalForm) {
  const char* text = "  t9=neg( x0 ) ;  t3 = abs(t9); add(t3,0.10) ";
  EXPECT_EQ(print_expression(parse_expression(text)), "add(abs(neg(x0)), 0.1)");
}

TEST(ElementwiseExpression, KeepsStepsAndOperands) {
  const ElementwiseExpression expression = parse_expression("t0 = add(x0, x4); mul(t0, 2); t0");
  ASSERT_EQ(expression.steps.size(), 2u);
  EXPECT_EQ(expression.steps[1].op->name, "mul");
  EXPECT_EQ(expression.steps[1].arguments[1].number, 2);
  ASSERT_EQ(expression.results.size(), 2u);
  EXPECT_EQ(expression.results[1].index, 0u);
  EXPECT_EQ(operand_count(expression), 5u);
}

TEST(ElementwiseExpression, SaysWhatIsWrongAndWhere) {
  const auto expect = [](const std::string& text, const char* what) {
    EXPECT_THAT([&] { parse_expression(text); },
                ThrowsMessage<Error>(AllOf(HasSubstr("expression"), HasSubstr(what))))
        << text;
  };
  expect("", "an operand, a number or an op is expected");
  expect("x0", "a result must be a step");
  expect("tanh(x0", "')' is expected");
  expect("tanh(x0) x1", "';' or the end is expected");
  expect("add(x0)", "',' is expected");
  expect("softmax(x0)", "'softmax' is no elementwise op");
  expect("pointwise(x0)", "pointwise: it has an expression of its own");
  expect("tanh(y0)", "there is no 'y0'");
  expect("tanh(x1000)", "there is no 'x1000'");
  expect("tanh(t0)", "there is no 't0'");
  expect("t0 = x0; tanh(t0)", "only a step can have a name");
  expect("t0 = neg(x0); t0 = neg(x0); t0", "this name is taken");
  expect("t0 = neg(x0)", "a result is missing");
  expect("add(x0, 1e999)", "column 9");
  std::string deep(1000, '(');
  for (int i = 0; i < 1000; ++i) deep.replace(static_cast<std::size_t>(i) * 4, 1, "neg(");
  expect(deep, "nested too deeply");
}

}  // namespace
}  // namespace fuselage
