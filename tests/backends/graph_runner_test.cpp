// Any graph on the back-ends: classifiers and taggers without steps, teacher forcing with them.

#include "fuselage/backends/graph_runner.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "fuselage/backends/backend.h"
#include "fuselage/backends/compare_with_reference.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/error.h"
#include "fuselage/graph/text.h"
#include "fuselage/ops/registry.h"
#include "tests/backends/classifier.h"
#include "tests/backends/support.h"

namespace fuselage {
namespace {

using support::classifier;
using support::classifier_inputs;
using support::classifier_weights;
using support::expect_same;
using support::floats;
using support::integers;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(GraphRunner, RunsAClassifierAndATagger) {
  GraphRunner reference(classifier(), classifier_weights(), {.backend = "reference"});
  const std::vector<NamedRows> inputs = classifier_inputs();
  const std::vector<NamedRows> expected = reference.run(inputs);
  ASSERT_EQ(expected.size(), 3U);
  EXPECT_THAT(expected[0].values.shape(), ElementsAre(3, 2));
  EXPECT_THAT(expected[0].lengths, IsEmpty());
  EXPECT_THAT(expected[1].values.shape(), ElementsAre(6, 2));
  EXPECT_THAT(expected[1].lengths, ElementsAre(2, 1, 3));
  EXPECT_THAT(expected[2].values.shape(), ElementsAre(5, 2));
  EXPECT_THAT(expected[2].lengths, IsEmpty());
  // tags of word 4, whose embedding is the last unit vector.
  EXPECT_FLOAT_EQ(expected[1].values.data<float>()[0], std::tanh(-.5f));
  for (const char* passes : {"none", "all"}) {
    GraphRunner cpu(classifier(), classifier_weights(), {.passes = passes});
    for (const std::size_t mini_batch : {0, 1, 2, 7})
      expect_same(cpu.run(inputs, mini_batch), expected);
  }
}

TEST(GraphRunner, EvaluatesInDoubleWithTheReference) {
  const std::vector<NamedRows> inputs = classifier_inputs();
  GraphRunner reference(classifier(), classifier_weights(),
                        {.backend = "reference", .in_double = true});
  const Tensor tags = reference.run(inputs)[1].values;
  ASSERT_EQ(tags.dtype(), DType::f64);
  EXPECT_NEAR(tags.data<double>()[0], std::tanh(-.5), 1e-15);
  try {
    const GraphRunner runner(classifier(), classifier_weights(), {.in_double = true});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("the cpu back-end has no use for double; leave it out, or take the "
                          "reference back-end"));
  }
}

TEST(GraphRunner, RunsStepsOnGivenWords) {
  const support::ToyModel model = support::toy_model(3);
  const std::vector<NamedRows> inputs{
      {.name = "source.word", .values = integers({3, 7, 0, 0, 9, 0}), .lengths = {3, 1, 2}},
      {.name = "hyp.word", .values = integers({-1, 5, 6, -1, -1, 8}), .lengths = {3, 1, 2}}};
  GraphRunner reference(model.graph, model.weights, {.backend = "reference"});
  std::vector<std::string> names;
  for (const GraphInput& input : reference.inputs()) names.push_back(input.name);
  SCOPED_TRACE(::testing::PrintToString(names));
  const std::vector<NamedRows> expected = reference.run(inputs);
  EXPECT_THAT(expected[0].values.shape(), ElementsAre(6, model.kVocabulary));
  EXPECT_THAT(expected[0].lengths, ElementsAre(3, 1, 2));
  // A weight for each step and source word.
  EXPECT_THAT(expected[1].lengths, ElementsAre(9, 1, 4));
  GraphRunner cpu(model.graph, model.weights);
  for (const std::size_t mini_batch : {0, 1, 2}) expect_same(cpu.run(inputs, mini_batch), expected);
}

std::string refusal(const std::vector<NamedRows>& inputs) {
  static GraphRunner runner(classifier(), classifier_weights());
  try {
    runner.run(inputs);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(GraphRunner, RefusesInputsThatDoNotFit) {
  const auto with = [](std::size_t at, const NamedRows& input) {
    std::vector<NamedRows> inputs = classifier_inputs();
    inputs[at] = input;
    return refusal(inputs);
  };
  EXPECT_THAT(refusal({}), HasSubstr("needs the input 'source.word', with rows of 'source'"));
  EXPECT_THAT(with(1, {.name = "feature", .values = integers({1})}),
              HasSubstr("has no input 'feature'; did you mean 'features'?"));
  EXPECT_THAT(with(1, classifier_inputs()[0]), HasSubstr("'source.word' is given twice"));
  EXPECT_THAT(with(0, {.name = "source.word", .values = floats({1}, {1})}),
              HasSubstr("has type f32, but the words of a map are i32 or i64"));
  EXPECT_THAT(with(1, {.name = "features", .values = integers({1})}),
              HasSubstr("has type i32, but its numbers are f32 or f64"));
  EXPECT_THAT(with(1, {.name = "features", .values = floats({3, 1}, {1, 2, 3})}),
              HasSubstr("has shape [3, 1], but rows of [3] make [3, 3]"));
  EXPECT_THAT(with(0, {.name = "source.word", .values = integers({1, 2}), .lengths = {1, 2}}),
              HasSubstr("has 2 rows, but its lengths add up to 3"));
  EXPECT_THAT(with(0, {.name = "source.word", .values = integers({1, 2}), .lengths = {2, 0}}),
              HasSubstr("has 0 rows for sentence 2, but 'source' has one or more"));
  EXPECT_THAT(with(0, {.name = "source.word", .values = integers({1, 2}), .lengths = {1, 1}}),
              HasSubstr("input 'features' has 3 sentences, but 'source.word' has 2"));
  EXPECT_THAT(with(0, {.name = "source.word", .values = integers({1, 2, 3, 5}), .lengths = {2, 2}}),
              HasSubstr("has word 5 in row 2 of sentence 2, but its vocabulary has 5 entries"));
  EXPECT_THAT(with(0, {.name = "source.word", .values = integers({-1})}),
              HasSubstr("the map is not partial"));
}

TEST(GraphRunner, RefusesWeightsOfAnotherShape) {
  TensorMap transposed = classifier_weights();
  transposed.at("W") = transposed.at("W").reshaped({2, 3});
  TensorMap flat = classifier_weights();
  flat.at("E") = flat.at("E").reshaped({15});
  TensorMap missing = classifier_weights();
  missing.erase("W");
  struct Case {
    TensorMap weights;
    std::string message;
  };
  const std::vector<Case> cases{
      {transposed, "weight 'W' has shape [2, 3], but the graph declares [3, 2]"},
      {flat, "weight 'E' has shape [15], but the graph declares [5, 3]"},
      {missing, "weight 'W', a parameter of the graph, is missing"}};
  for (const Case& given : cases) {
    const auto refused = [&](const auto& run) {
      EXPECT_THAT(run, ::testing::ThrowsMessage<Error>(HasSubstr(given.message)));
    };
    for (const char* backend : {"cpu", "reference"}) {
      const CompileOptions options{.backend = backend};
      refused([&] { GraphRunner(classifier(), given.weights, options); });
      refused([&] { GraphRunner::without_passes(classifier(), given.weights, options); });
      refused([&] { compile(classifier(), given.weights, options); });
      // As a back-end itself refuses what is compiled without the optimizer.
      refused([&] {
        find_backend(backend).compile(classifier(), given.weights, options)->make_worker();
      });
    }
    refused([&] {
      compare_with_reference(classifier(), given.weights, {}, classifier_inputs(),
                             NodeTolerances::all(0));
    });
  }
}

TEST(GraphRunner, WantsTheNumberOfSteps) {
  const Graph graph = parse_graph(R"(fuselage.graph 1
graph "counter"
domain sentence = sentence
domain parent = parent of sentence
domain hyp = hypothesis of parent
input x : sentence f32[1]
%x = input() {name = "x"}
%y = select_rows(%x) {via = [hyp.parent, parent.sentence]}
return y = %y
)",
                                  "test", all_ops());
  GraphRunner runner(graph, {});
  const NamedRows x{.name = "x", .values = floats({2, 1}, {3, 4})};
  try {
    runner.run(std::vector<NamedRows>{x});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("give an input 'hyp', of which only the lengths count"));
  }
  const auto result = runner.run(std::vector<NamedRows>{x, {.name = "hyp", .lengths = {0, 2}}});
  EXPECT_THAT(result[0].lengths, ElementsAre(0, 2));
  EXPECT_EQ(result[0].values.data<float>()[1], 4);
}

TEST(GraphRunner, RunsAGraphWithoutASource) {
  const Graph graph = parse_graph(R"(fuselage.graph 1
graph "words"
domain sentence = sentence
domain parent = parent of sentence
domain hyp = hypothesis of parent
domain words = vocabulary 5
map hyp.word : hyp -> words partial
%E = param() {name = "E", domain = words, dims = [3]}
%x = select_rows(%E) {via = [hyp.word]}
return x = %x
)",
                                  "test", all_ops());
  const TensorMap weights{{"E", classifier_weights().at("E")}};
  const std::vector<NamedRows> inputs{
      {.name = "hyp.word", .values = integers({-1, 4, 2}), .lengths = {2, 1}}};
  for (const char* backend : {"reference", "cpu"}) {
    GraphRunner runner(graph, weights, {.backend = backend});
    const auto result = runner.run(inputs);
    EXPECT_THAT(result[0].lengths, ElementsAre(2, 1));
    EXPECT_EQ(result[0].values.data<float>()[0], 0);
    EXPECT_EQ(result[0].values.data<float>()[5], 1);
    EXPECT_EQ(result[0].values.data<float>()[6], .5f);
  }
}

TEST(CompareWithReference, NamesTheFirstNodeThatDiffers) {
  const std::vector<NamedRows> inputs = classifier_inputs();
  const NodeComparison same =
      compare_with_reference(classifier(), classifier_weights(), {}, inputs, {});
  EXPECT_FALSE(same.difference);
  EXPECT_GT(same.compared, 3U);
  // Approximate products differ from the exact ones.
  const support::ToyModel model = support::toy_model(3);
  const std::vector<NamedRows> words{
      {.name = "source.word", .values = integers({3, 7, 0}), .lengths = {3}},
      {.name = "hyp.word", .values = integers({-1, 5}), .lengths = {2}}};
  const NodeComparison equal = compare_with_reference(model.graph, model.weights, {}, words, {});
  EXPECT_FALSE(equal.difference) << equal.difference->node;
  const NodeComparison differs =
      compare_with_reference(model.graph, model.weights, {}, words, NodeTolerances::all(0));
  ASSERT_TRUE(differs.difference);
  EXPECT_LT(differs.compared, equal.compared);
  EXPECT_NE(differs.difference->value, differs.difference->reference);
}

}  // namespace
}  // namespace fuselage
