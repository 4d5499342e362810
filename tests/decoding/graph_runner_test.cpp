// Any graph on a GPU, emulated where there is none, and by the reference interpreter.

#include "fuselage/backends/graph_runner.h"

#include <gtest/gtest.h>

#include "fuselage/backends/compare_with_reference.h"
#include "tests/backends/classifier.h"
#include "tests/decoding/support.h"

namespace fuselage {
namespace {

using namespace support;

TEST(GraphRunnerOnTheDevice, RunsAClassifierAndATagger) {
  if (const auto reason = why_no_cuda()) GTEST_SKIP() << *reason;
  GraphRunner reference(classifier(), classifier_weights(), {.backend = "reference"});
  const std::vector<NamedRows> inputs = classifier_inputs();
  const std::vector<NamedRows> expected = reference.run(inputs);
  for (const char* passes : {"none", "all"}) {
    GraphRunner cuda(classifier(), classifier_weights(), {.backend = "cuda", .passes = passes});
    for (const std::size_t mini_batch : {0, 1, 2})
      expect_same(cuda.run(inputs, mini_batch), expected);
  }
}

TEST(GraphRunnerOnTheDevice, ComparesNodesWithTheReference) {
  if (const auto reason = why_no_cuda()) GTEST_SKIP() << *reason;
  const std::vector<NamedRows> inputs = classifier_inputs();
  const NodeComparison result =
      compare_with_reference(classifier(), classifier_weights(), {.backend = "cuda"}, inputs, {});
  EXPECT_FALSE(result.difference);
  EXPECT_GT(result.compared, 3U);
}

}  // namespace
}  // namespace fuselage
