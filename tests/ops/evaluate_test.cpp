// Each op's reference evaluation, in both precisions, on values small enough to check by hand.

#include "fuselage/ops/evaluate.h"

#include <cmath>
#include <set>

#include "tests/ops/evaluate_cases/cases.h"

namespace fuselage {
namespace {

const std::vector<EvaluateCase>& cases() {
  static const std::vector<EvaluateCase> all = [] {
    std::vector<EvaluateCase> result;
    for (const auto& of_room :
         {precision_cases(), structure_cases(), arithmetic_cases(), search_cases(), fused_cases()})
      result.insert(result.end(), of_room.begin(), of_room.end());
    return result;
  }();
  return all;
}

template <typename T>
void expect_values(const EvaluateCase& test, double tolerance) {
  SCOPED_TRACE(test.equation);
  const Graph graph = graph_of(std::string(kInputs) + test.equation + "\n");
  const NodeId node = node_named(graph, "y");
  EXPECT_EQ(graph.node(node).op->name, test.op);
  const auto results = evaluate<T>(graph, test_rows(graph), case_inputs(), node);
  ASSERT_EQ(results.size(), test.expected.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    ASSERT_EQ(results[i].data.size(), test.expected[i].size());
    for (std::size_t k = 0; k < results[i].data.size(); ++k) {
      const double actual = results[i].data[k];
      const double expected = test.expected[i][k];
      if (actual == expected || (std::isnan(actual) && std::isnan(expected))) continue;
      EXPECT_NEAR(actual, expected, tolerance * std::max(1.0, std::abs(expected)))
          << "element " << k << " of result " << i;
    }
  }
}

TEST(Evaluate, GivesTheExpectedValuesInFloatAndDouble) {
  for (const EvaluateCase& test : cases()) {
    expect_values<double>(test, test.tolerance);
    expect_values<float>(test, 1e-6);
  }
}

TEST(Evaluate, EveryOpWithAReferenceIsCovered) {
  std::set<std::string_view> covered;
  for (const EvaluateCase& test : cases()) covered.insert(test.op);
  for (const OpDef* def : all_ops().all())
    EXPECT_EQ(covered.contains(def->name), def->evaluate_f64 != nullptr)
        << def->name << ": add a case to evaluate_cases/";
}

TEST(Evaluate, SinusoidUsesAnglesOfSinglePrecision) {
  const Graph graph = graph_of(std::string(kInputs) + "%y = sinusoid(%hi) {dim = 256}\n");
  Inputs values = case_inputs();
  values["hi"] = {497, 0, 511, 3};
  const auto results = evaluate<double>(graph, test_rows(graph), values, node_named(graph, "y"));
  const std::vector<double> positions = values["hi"];
  for (std::int64_t r = 0; r < 4; ++r)
    for (std::int64_t i = 0; i < 128; ++i) {
      const double position = positions[static_cast<std::size_t>(r)];
      const double exact = position * std::pow(10000.0, -static_cast<double>(i) / 127);
      // Off by no more than the angle's rounding.
      EXPECT_NEAR(results[0].row(r)[i], std::sin(exact), 2e-6 * (1 + position)) << r << " " << i;
      EXPECT_NEAR(results[0].row(r)[128 + i], std::cos(exact), 2e-6 * (1 + position));
    }
  EXPECT_EQ(results[0].row(2)[0], std::sin(511.0));
}

}  // namespace
}  // namespace fuselage
