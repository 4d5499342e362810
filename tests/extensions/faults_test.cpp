// Faults of what an extension registers: errors that name the extension, not Fuselage's own.

#include <gmock/gmock.h>

#include "fuselage/base/error.h"
#include "fuselage/base/extension.h"
#include "fuselage/models/architectures/architecture.h"
#include "tests/extensions/program.h"

namespace fuselage {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

class ExtensionFaults : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { load_extension(FUSELAGE_FAULTY_EXTENSION); }

  /// Parses, compiles and runs a graph with the op.
  static void run(const std::string& op, const CompileOptions& options = {.passes = "all"}) {
    Graph graph = support::step_graph(7, "%p = matmul(%x, %w)\n%y = " + op + "(%p)\nreturn y = %y");
    const TensorMap weights = support::random_weights_of(graph);
    CompileOptions chosen = options;
    if (chosen.passes == "all") chosen.passes = "all,-commute_rows,-frequent_rows";
    support::run_step(*compile(std::move(graph), weights, chosen));
  }

  template <typename Run>
  static void expect_fault(const std::string& what, const std::string& message, Run run) {
    const std::string by = what + " of the extension " + FUSELAGE_FAULTY_EXTENSION + ": ";
    EXPECT_THAT(run, ThrowsMessage<Error>(AllOf(HasSubstr(by), HasSubstr(message),
                                                Not(HasSubstr("internal error")))));
  }
};

TEST_F(ExtensionFaults, OfOpsNameTheExtension) {
  const auto expect = [](const std::string& op, const std::string& message,
                         const CompileOptions& options = {.passes = "all"}) {
    expect_fault("op '" + op + "'", message, [&] { run(op, options); });
  };
  expect("faulty_infer", "a faulty_infer node is read as");
  expect("faulty_row", "the row is wrong");
  expect("faulty_row", "the row is wrong", {.passes = "none"});
  expect("faulty_row", "the row is wrong", {.backend = "reference"});
  expect("faulty_size", "its evaluation leaves 1 numbers in result 0 in place of 14");
  expect("faulty_size", "its evaluation leaves 1 numbers", {.backend = "reference"});
  expect_fault("op 'faulty_cost'", "no dimension", [] {
    Graph graph =
        support::step_graph(7, "%p = matmul(%x, %w)\n%y = faulty_cost(%p)\nreturn y = %y");
    compile(graph, support::random_weights_of(graph), {.passes = "all"});
  });
}

TEST_F(ExtensionFaults, OfPassesNameTheExtension) {
  const auto expect = [](const std::string& pass, const std::string& message) {
    expect_fault("pass '" + pass + "'", message, [&] { run(pass); });
  };
  expect("faulty_rule", "but it builds nothing there");
  expect("faulty_guard", "the guard is wrong");
  expect("faulty_loop", "does not come to an end");
  expect("faulty_pass", "the pass is wrong");
  expect("faulty_report", "reports a change, but the graph is what it was");
}

TEST_F(ExtensionFaults, OfKernelsNameTheExtension) {
  const auto expect = [](const std::string& op, const std::string& kernel,
                         const std::string& message) {
    expect_fault("kernel '" + kernel + "'", message, [&] { run(op); });
  };
  expect("faulty_kernel", "kernel_run", "something that is no std::exception");
  expect("faulty_state", "kernel_state", "the state is wrong");
  expect("faulty_factory", "kernel_factory", "gives no kernel");
  expect("faulty_refusal", "kernel_refusal", "the refusal is wrong");
}

TEST_F(ExtensionFaults, OfArchitecturesNameTheExtension) {
  expect_fault("architecture 'faulty_architecture'", "the equations are wrong",
               [] { build_model("faulty_architecture", ModelOptions(), {}); });
}

TEST_F(ExtensionFaults, AreNoneOfTheTree) {
  EXPECT_NO_THROW(run("tanh"));
  EXPECT_EQ(all_ops().find("tanh")->registered_by, "");
  EXPECT_THAT(std::string(all_ops().find("faulty_row")->registered_by),
              HasSubstr("the extension "));
}

}  // namespace
}  // namespace fuselage
