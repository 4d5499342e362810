#include "fuselage/models/architectures/ensemble.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdio>
#include <limits>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "fuselage/graph/text.h"
#include "fuselage/graph/verifier.h"
#include "fuselage/ops/registry.h"
#include "graph/traversal.h"
#include "tests/temp_path.h"

namespace fuselage::ensemble_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::ThrowsMessage;

Graph parsed(const std::string& text) { return parse_graph(text, "test.ir", all_ops()); }

/// Declarations of a model with vocabularies of these sizes.
std::string declarations(int source_words, int target_words) {
  return fmt::format(R"(fuselage.graph 1
graph "toy"
domain sentence = sentence
domain source = source of sentence
domain parent = parent of sentence
domain hyp = hypothesis of parent
domain cross = pairs of hyp, source
domain from = vocabulary {}
domain to = vocabulary {}
map source.word : source -> from
map hyp.word : hyp -> to partial
)",
                     source_words, target_words);
}

/// The equations of such a model, with `i` in front of all names and without outputs.
std::string equations(const std::string& i) {
  std::string text = R"(
%@E = param() {name = "@E", domain = to, dims = [3]}
%@F = param() {name = "@F", domain = from, dims = [1]}
%@energy = select_rows(%@F) {via = [cross.right, source.word]}
%@alignment = segment_softmax(%@energy) {to = [cross.left]}
%@y = select_rows(%@E) {via = [hyp.word]}
%@logits = matmul(%@y, %@E) {transposed = true}
)";
  for (std::size_t at; (at = text.find('@')) != std::string::npos;) text.replace(at, 1, i);
  return text;
}

Model toy(int source_words = 7, int target_words = 5) {
  Model model;
  model.graph = parsed(declarations(source_words, target_words) + equations("") +
                       "return alignment = %alignment, logits = %logits\n");
  model.weights.emplace("E", Tensor(DType::f32, {target_words, 3}));
  model.weights.emplace("F", Tensor(DType::f32, {source_words, 1}));
  return model;
}

/// A toy model that gives `scores` of its equations instead of its logits.
Model toy_with(const std::string& nodes, const std::string& outputs) {
  Model model = toy();
  model.graph = parsed(declarations(7, 5) + equations("") + nodes + "return " + outputs + "\n");
  return model;
}

std::vector<EnsembleMember> two(Model a, Model b) {
  std::vector<EnsembleMember> members;
  members.push_back({std::move(a), 1, "a.npz"});
  members.push_back({std::move(b), 1, "b.npz"});
  return members;
}

template <typename Matcher>
void expect_refused(const std::vector<EnsembleMember>& members, Matcher message) {
  EXPECT_THAT([&] { make_ensemble(members); }, ThrowsMessage<Error>(message));
}

TEST(Ensemble, HasTheDefaultsOfItsMembers) {
  Model a = toy(), b = toy();
  a.decode = {.beam_size = 6, .normalize = 0.6f};
  b.decode = {.normalize = 0.6f, .precision = Precision::int8};
  EXPECT_EQ(make_ensemble(two(a, b)).decode,
            (DecodeDefaults{.beam_size = 6, .normalize = 0.6f, .precision = Precision::int8}));
  b.decode.beam_size = 4;
  expect_refused(two(a, b), HasSubstr("a.npz has 6 for beam-size, but b.npz has 4"));
}

TEST(Ensemble, AddsWeightedLogProbabilities) {
  std::vector<EnsembleMember> members = two(toy(), toy());
  members.push_back({toy(), 0.25, "c.npz"});
  members[0].weight = -2.5;
  const Model ensemble = make_ensemble(members);
  verify(ensemble.graph);
  EXPECT_TRUE(same_graph(ensemble.graph, parsed(declarations(7, 5) + equations("0.") +
                                                equations("1.") + equations("2.") + R"(
%l0 = log_softmax(%0.logits)
%w0 = constant() {values = [-2.5]}
%s0 = mul(%l0, %w0)
%s1 = log_softmax(%1.logits)
%l2 = log_softmax(%2.logits)
%w2 = constant() {values = [0.25]}
%s2 = mul(%l2, %w2)
%s01 = add(%s0, %s1)
%s = add(%s01, %s2)
return alignment = %0.alignment, log_probs = %s, log_probs.0 = %l0, log_probs.1 = %s1, log_probs.2 = %l2
)"))) << print_graph(ensemble.graph);
  EXPECT_EQ(ensemble.graph.name(), "toy + toy + toy");
}

TEST(Ensemble, KeepsTheWeightsOfItsMembersApart) {
  std::vector<EnsembleMember> members = two(toy(), toy());
  members[1].model.weights.at("E").mutable_data<float>()[4] = 3;
  const Model ensemble = make_ensemble(members);
  ASSERT_THAT(ensemble.weights, ElementsAre(Pair("0.E", ::testing::_), Pair("0.F", ::testing::_),
                                            Pair("1.E", ::testing::_), Pair("1.F", ::testing::_)));
  EXPECT_EQ(ensemble.weights.at("0.E").data<float>()[4], 0);
  EXPECT_EQ(ensemble.weights.at("1.E").data<float>()[4], 3);
}

TEST(Ensemble, IsSomethingThatCanBeWrittenAndRead) {
  const Model ensemble = make_ensemble(two(toy(), toy()));
  const Graph again = parsed(print_graph(ensemble.graph));
  EXPECT_TRUE(same_graph(again, ensemble.graph));
  EXPECT_EQ(print_graph(again), print_graph(ensemble.graph));
}

TEST(Ensemble, HasEnsemblesAsMembers) {
  const Model inner = make_ensemble(two(toy(), toy()));
  const Model outer = make_ensemble(two(inner, toy()));
  verify(outer.graph);
  EXPECT_TRUE(same_graph(outer.graph, parsed(declarations(7, 5) + equations("0.0.") +
                                             equations("0.1.") + equations("1.") + R"(
%s0 = log_softmax(%0.0.logits)
%s1 = log_softmax(%0.1.logits)
%s01 = add(%s0, %s1)
%s2 = log_softmax(%1.logits)
%s = add(%s01, %s2)
return alignment = %0.0.alignment, log_probs = %s, log_probs.0 = %s01, log_probs.1 = %s2
)"))) << print_graph(outer.graph);
  EXPECT_EQ(outer.weights.size(), 6u);
}

TEST(Ensemble, OfOneModelHasItsWeight) {
  const Model ensemble = make_ensemble({{toy(), 0.5, "a.npz"}});
  const ValueId score = ensemble.graph.find_output("log_probs");
  EXPECT_EQ(ensemble.graph.producer(score).op->name, "mul");
}

TEST(Ensemble, HasTheAlignmentOfItsFirstMemberOrNone) {
  const Model silent = toy_with("", "logits = %logits");
  EXPECT_FALSE(make_ensemble(two(silent, toy())).graph.find_output("alignment").valid());
  EXPECT_TRUE(make_ensemble(two(toy(), silent)).graph.find_output("alignment").valid());
}

TEST(Ensemble, RefusesWeightsThatAreNotFinite) {
  std::vector<EnsembleMember> members = two(toy(), toy());
  members[1].weight = std::numeric_limits<double>::quiet_NaN();
  expect_refused(members, HasSubstr("the weight of b.npz is nan"));
  members[1].weight = -std::numeric_limits<double>::infinity();
  expect_refused(members, HasSubstr("the weight of b.npz is -inf"));
}

TEST(Ensemble, RefusesOtherNumbersOfWords) {
  expect_refused(
      two(toy(), toy(7, 6)),
      HasSubstr("a.npz has 5 target words, but b.npz has 6; models of an ensemble must"));
  expect_refused(two(toy(8, 5), toy()), HasSubstr("a.npz has 8 source words, but b.npz has 7"));
}

TEST(Ensemble, RefusesTwoDirections) {
  Model reversed = toy();
  reversed.right_left = true;
  expect_refused(two(toy(), reversed),
                 HasSubstr("a.npz works from left to right, but b.npz from right to left"));
  EXPECT_TRUE(make_ensemble(two(reversed, reversed)).right_left);
}

TEST(Ensemble, RefusesAMemberWithoutScores) {
  expect_refused(two(toy(), toy_with("", "alignment = %alignment")),
                 HasSubstr("graph 'toy' has no output 'logits' or 'log_probs'"));
  expect_refused(two(toy_with("%n = constant() {values = [1]}\n", "logits = %n"), toy()),
                 AllOf(HasSubstr("'logits' must have an element per target word, not f32[]")));
}

class EnsembleVocabularies : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const std::string& path : written_) std::remove(path.c_str());
  }

  std::string vocabulary(const std::string& name, const std::string& text) {
    written_.push_back(temp_path(name));
    write_file_atomically(written_.back(), text);
    return written_.back();
  }

  static Model with(Model model, std::vector<std::string> vocabularies) {
    model.vocabularies = std::move(vocabularies);
    return model;
  }

 private:
  std::vector<std::string> written_;
};

TEST_F(EnsembleVocabularies, AreThoseOfTheFirstMemberThatBringsThem) {
  const std::string a = vocabulary("a.yml", "x: 0\n");
  const std::string b = vocabulary("b.yml", "x: 0\n");
  EXPECT_THAT(make_ensemble(two(toy(), with(toy(), {a, b}))).vocabularies, ElementsAre(a, b));
  EXPECT_THAT(make_ensemble(two(with(toy(), {a, a}), with(toy(), {b, a}))).vocabularies,
              ElementsAre(a, a));
}

TEST_F(EnsembleVocabularies, AreRefusedWhenTheyDiffer) {
  const std::string a = vocabulary("a.yml", "x: 0\n");
  const std::string b = vocabulary("b.yml", "y: 0\n");
  std::vector<EnsembleMember> members = two(with(toy(), {a, a}), toy());
  members.push_back({with(toy(), {a, b}), 1, "c.npz"});
  expect_refused(members, AllOf(HasSubstr(a + " and " + b), HasSubstr("of a.npz and c.npz"),
                                HasSubstr("be given a source and a target vocabulary")));
}

}  // namespace
}  // namespace fuselage::ensemble_test
