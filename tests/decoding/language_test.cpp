// The forms of the graph language, in tests/data/language: each graph gives the results that numpy
// computes in float64 (scripts/make_language_cases.py), on all back-ends and levels.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backends/cpu/runtime/isa.h"
#include "base/files/file.h"
#include "fuselage/backends/graph_runner.h"
#include "fuselage/graph/text.h"
#include "fuselage/ops/registry.h"
#include "models/formats/npz.h"
#include "tests/decoding/support.h"

namespace fuselage {
namespace {

using namespace support;

struct LanguageCase {
  Graph graph;
  TensorMap weights;
  std::vector<NamedRows> inputs;
  TensorMap expected;
};

LanguageCase read_case(const std::string& name) {
  const std::string path = std::string(FUSELAGE_TEST_DATA) + "/language/" + name;
  LanguageCase read{.graph = parse_graph(read_file(path + ".ir"), name, all_ops())};
  const TensorMap arrays = read_npz(path + ".npz").tensors;
  for (const auto& [key, values] : arrays) {
    const std::string kind = key.substr(0, key.find(':'));
    const std::string rest = key.substr(key.find(':') + 1);
    if (kind == "weight") read.weights.emplace(rest, values);
    if (kind == "output") read.expected.emplace(rest, values);
    if (kind != "input" || rest.ends_with(".lengths")) continue;
    const Tensor& lengths = arrays.at(key + ".lengths");
    const auto* first = lengths.data<std::int32_t>();
    read.inputs.push_back(
        {.name = rest, .values = values, .lengths = {first, first + lengths.size()}});
  }
  return read;
}

class Language : public ::testing::TestWithParam<const char*> {
 protected:
  ~Language() override { cpu::force_isa(cpu::supported_isas().back()); }

  void expect_results(const CompileOptions& options) const {
    const LanguageCase given = read_case(GetParam());
    GraphRunner runner(given.graph, given.weights, options);
    for (const std::size_t mini_batch : {0, 2}) {
      const std::vector<NamedRows> outputs = runner.run(given.inputs, mini_batch);
      ASSERT_EQ(outputs.size(), given.expected.size());
      for (const NamedRows& output : outputs) expect_near(output, given.expected.at(output.name));
    }
  }

 private:
  static void expect_near(const NamedRows& output, const Tensor& expected) {
    SCOPED_TRACE(output.name);
    ASSERT_EQ(output.values.shape(), expected.shape());
    for (std::int64_t i = 0; i < expected.size(); ++i) {
      const float wanted = expected.data<float>()[i];
      ASSERT_NEAR(output.values.data<float>()[i], wanted, 1e-5f * std::max(1.0f, std::abs(wanted)))
          << "element " << i;
    }
  }
};

TEST_P(Language, HasTheResultsOfNumpyByTheInterpreter) {
  expect_results({.backend = "reference", .passes = "none"});
  expect_results({.backend = "reference"});
}

TEST_P(Language, HasTheResultsOfNumpyOnTheCpu) {
  for (const std::string& isa : cpu::supported_isas()) {
    SCOPED_TRACE(isa);
    cpu::force_isa(isa);
    expect_results({.passes = "none"});
    expect_results({});
  }
}

TEST_P(Language, HasTheResultsOfNumpyOnTheDevice) {
  if (const auto reason = why_no_cuda()) GTEST_SKIP() << *reason;
  expect_results({.backend = "cuda", .passes = "none"});
  expect_results({.backend = "cuda"});
}

INSTANTIATE_TEST_SUITE_P(Cases, Language,
                         ::testing::Values("attention", "convolution", "decoder", "ends",
                                           "linear_attention", "reductions",
                                           "rotary_language_model", "texts", "sequence_labels",
                                           "frame_encoder", "recurrent_mixing", "tiny_translator"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace fuselage
