// Ops for the cases of passes. Their names begin with "test_".

#include <algorithm>
#include <span>

#include "fuselage/ops/evaluate.h"
#include "fuselage/ops/registry.h"
#include "fuselage/ops/row_function.h"

namespace fuselage {
namespace {

/// x³, defined by its evaluation alone: elementwise, without a row function.
struct TestCube {
  static constexpr std::string_view kName = "test_cube";
};

template <typename T>
void evaluate_cube(EvalContext<T>& context) {
  const auto& x = context.operands[0]->data;
  std::transform(x.begin(), x.end(), context.results[0].data.begin(),
                 [](T value) { return value * value * value; });
}

/// factor x, as a row function.
struct TestScaled {
  static constexpr std::string_view kName = "test_scaled";
  double factor = 2;
  bool negated = false;
  static constexpr auto attributes() {
    return std::tuple(defaulted("factor", &TestScaled::factor),
                      defaulted("negated", &TestScaled::negated));
  }
};

const bool kRegistered = [] {
  register_ops({define<TestCube>({.summary = "x³",
                                  .operands = {{"x"}},
                                  .traits = Trait::row_wise | Trait::elementwise,
                                  .infer = infer_row,
                                  .evaluate_f32 = evaluate_cube<float>,
                                  .evaluate_f64 = evaluate_cube<double>}),
                define<TestScaled>(
                    {.summary = "factor x",
                     .operands = {{"x"}},
                     .traits = Trait::row_wise | Trait::elementwise},
                    []<typename T>(const TestScaled& node, RowOperands<T> x, std::span<T> out) {
                      const T factor = static_cast<T>(node.negated ? -node.factor : node.factor);
                      for (std::size_t i = 0; i < out.size(); ++i) out[i] = factor * x[0][i];
                    })});
  return true;
}();

}  // namespace
}  // namespace fuselage
