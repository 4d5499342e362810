#include "backends/cuda/elementwise_source.h"

#include <gmock/gmock.h>

#include "backends/cuda/element_functions.h"
#include "fuselage/ops/fused/chains.h"
#include "tests/graph/support.h"

namespace fuselage::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string source_of(std::string_view expression, const std::vector<bool>& scalar) {
  return elementwise_source(parse_expression(expression), scalar);
}

TEST(ElementSourceTest, KnowsEveryElementwiseOp) {
  for (const OpDef* op : all_ops().all())
    if (op->has(Trait::elementwise) && !declares<op::Expression>(*op)) {
      EXPECT_THAT(std::string(element_function(op->name)),
                  HasSubstr("float op_" + std::string(op->name) + "(float a"));
    }
  EXPECT_EQ(element_function("matmul"), "");
}

TEST(ElementSourceTest, HasTheFunctionsOfItsOpsOnce) {
  const std::string text = source_of("add(swish(x0), add(sigmoid(x0), x1))", {false, false});
  const std::size_t add = text.find("float op_add(");
  ASSERT_NE(add, std::string::npos);
  EXPECT_EQ(text.find("float op_add(", add + 1), std::string::npos);
  EXPECT_THAT(text, Not(HasSubstr("op_tanh")));
}

TEST(ElementSourceTest, NumbersKeepAllBitsOfFloats) {
  EXPECT_THAT(source_of("mul(0.1, x0)", {false}), HasSubstr("op_mul((0x1.99999ap-4f), x0)"));
  EXPECT_THAT(source_of("sub(x0, -2)", {false}), HasSubstr("op_sub(x0, (-0x1p+1f))"));
}

TEST(ElementSourceTest, ScalarOperandsAreReadOnceARow) {
  const std::string text = source_of("mul(x0, x2)", {false, false, true});
  EXPECT_THAT(text, HasSubstr("s2 = row2 ?"));
  EXPECT_THAT(text, HasSubstr("v0 = load<kCount>(row0, c)"));
  EXPECT_THAT(text, Not(HasSubstr("row1"))) << "operand 1 is not read";
  EXPECT_THAT(text, HasSubstr("Operand operands[3]; ResultOf<float> results[1];"));
}

TEST(ElementSourceTest, StoresResultsInTheFormsThatAreAskedFor) {
  const std::string text =
      elementwise_source(parse_expression("t0 = neg(x0); neg(t0); t0"), {false},
                         {{.floats = false, .rounded = true}, {.floats = true, .rounded = true}});
  EXPECT_THAT(text, HasSubstr("ResultOf<float> results[1]; ResultOf<unsigned short> rounded[2];"));
  EXPECT_THAT(text, HasSubstr("(to0)[c] = w1;")) << "the second one";
  EXPECT_THAT(text, HasSubstr("h0.at[i] = rounded(w0.at[i]);"));
  EXPECT_THAT(text, HasSubstr("h1.at[i] = rounded(w1.at[i]);"));
  EXPECT_THAT(source_of("neg(x0)", {false}), Not(HasSubstr("rounded")));
}

TEST(ElementSourceTest, RefusesNumbersBeyondFloats) {
  EXPECT_EQ(refuse_elementwise_source(parse_expression("add(x0, 1e38)")), "");
  EXPECT_THAT(refuse_elementwise_source(parse_expression("add(x0, 1e39)")), HasSubstr("1e+39"));
  EXPECT_THROW(source_of("add(x0, 1e39)", {false}), InternalError);
}

TEST(ElementSourceTest, ExpectsAllOperandsAndNotTooManyResults) {
  EXPECT_THROW(source_of("add(x0, x1)", {false}), InternalError);
  std::string results = "neg(x0)";
  for (std::size_t i = 1; i < kMaxElementResults; ++i) results += "; neg(x0)";
  EXPECT_NO_THROW(source_of(results, {false}));
  EXPECT_THROW(source_of(results + "; neg(x0)", {false}), InternalError);
  EXPECT_THROW(source_of("neg(x0)", std::vector<bool>(kMaxElementOperands + 1)), InternalError);
}

}  // namespace
}  // namespace fuselage::cuda
