#include "fuselage/decoding/search_head.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "fuselage/base/error.h"
#include "fuselage/graph/text.h"
#include "fuselage/graph/verifier.h"
#include "fuselage/ops/registry.h"
#include "graph/traversal.h"

namespace fuselage {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::string_view kModel = R"(fuselage.graph 1
domain vocab = vocabulary 5
domain sentence = sentence
domain source = source of sentence
domain parent = parent of sentence
domain hyp = hypothesis of parent
domain cross = pairs of hyp, source
map source.word : source -> vocab
map hyp.word : hyp -> vocab partial
%E = param() {name = "E", domain = vocab, dims = [3]}
%F = param() {name = "F", domain = vocab, dims = [1]}
%f = select_rows(%F) {via = [cross.right, source.word]}
%alignment = segment_softmax(%f) {to = [cross.left]}
%y = select_rows(%E) {via = [hyp.word]}
%scores = matmul(%y, %E) {transposed = true}
)";

Graph model(const std::string& rest) {
  return parse_graph(std::string(kModel) + rest, "test.ir", all_ops());
}

/// Expects that `head` behind a model with outputs `given` makes `nodes` and returns `outputs`.
void expect_head(SearchHead head, const std::string& given, const std::string& made,
                 std::int64_t k = 3, bool alignment = true) {
  const Graph graph =
      with_search_head(model("return " + given + "\n"), head, {.k = k, .alignment = alignment});
  verify(graph);
  EXPECT_TRUE(same_graph(graph, model(made))) << print_graph(graph);
}

TEST(SearchHead, NormalizesLogits) {
  expect_head(SearchHead::log_probabilities, "logits = %scores, alignment = %alignment",
              "%p = log_softmax(%scores)\nreturn log_probs = %p, alignment = %alignment\n");
  expect_head(SearchHead::k_best, "logits = %scores",
              "%p = log_softmax(%scores)\n%s, %w = k_best(%p) {k = 3}\n"
              "return best_scores = %s, best_words = %w\n");
}

TEST(SearchHead, RanksLogitsAsTheyAreWhenAsked) {
  expect_head(SearchHead::k_best_logits, "logits = %scores",
              "%s, %w = k_best(%scores) {k = 3}\nreturn best_scores = %s, best_words = %w\n");
}

TEST(SearchHead, TakesLogProbabilitiesAsTheyAre) {
  expect_head(SearchHead::log_probabilities, "log_probs = %scores, alignment = %alignment",
              "return log_probs = %scores, alignment = %alignment\n");
  for (const SearchHead head : {SearchHead::k_best, SearchHead::k_best_logits})
    expect_head(head, "log_probs = %scores",
                "%s, %w = k_best(%scores) {k = 3}\nreturn best_scores = %s, best_words = %w\n");
}

TEST(SearchHead, PrefersLogits) {
  expect_head(SearchHead::log_probabilities, "log_probs = %y, logits = %scores",
              "%p = log_softmax(%scores)\nreturn log_probs = %p\n");
}

/// The random number of each hypothesis.
constexpr std::string_view kRandom = R"(input sampling_streams : sentence f32[4]
%streams = input() {name = "sampling_streams"}
%own = select_rows(%streams) {via = [hyp.parent, parent.sentence]}
%at = position() {domain = hyp}
%u = uniform(%own, %at)
)";

void expect_sampling_head(const Sampling& sampling, const std::string& made) {
  const Graph graph = with_search_head(model("return logits = %scores\n"), SearchHead::k_best,
                                       {.sampling = sampling, .suppressed = {4, 1, 9}});
  verify(graph);
  EXPECT_TRUE(same_graph(graph, model(std::string(kRandom) + "%p = log_softmax(%scores)\n" + made +
                                      "return best_scores = %s, best_words = %w\n")))
      << print_graph(graph);
}

TEST(SearchHead, DrawsAWord) {
  expect_sampling_head({.temperature = 0.5},
                       "%s, %w = sample(%p, %u) {temperature = 0.5, excluded = [1, 4]}\n");
  expect_sampling_head({.method = SamplingMethod::nucleus, .p = 0.25},
                       "%s, %w = sample(%p, %u) {top_p = 0.25, excluded = [1, 4]}\n");
  expect_sampling_head({.method = SamplingMethod::epsilon, .epsilon = 0.25},
                       "%s, %w = sample(%p, %u) {epsilon = 0.25, excluded = [1, 4]}\n");
  expect_sampling_head({.method = SamplingMethod::top_k, .k = 2},
                       "%a, %i = k_best(%p) {k = 4}\n"
                       "%s, %w = sample(%a, %u, %i) {top_k = 2, excluded = [1, 4]}\n");
}

TEST(SearchHead, CapsKAtTheVocabularyAndKeepsOtherOutputs) {
  expect_head(SearchHead::k_best, "log_probs = %scores, alignment = %alignment, other = %y",
              "%s, %w = k_best(%scores) {k = 5}\n"
              "return best_scores = %s, best_words = %w, other = %y\n",
              9, false);
}

TEST(SearchHead, RefusesAModelWithoutScores) {
  EXPECT_THAT([] { with_search_head(model("return other = %y\n"), SearchHead::k_best); },
              ThrowsMessage<Error>(HasSubstr("has no output 'logits' or 'log_probs'")));
}

constexpr std::string_view kHistory = R"(domain prefix = prefix of hyp
domain hyp_words = pairs of hyp, prefix
)";

TEST(SearchHead, PenalizesRepetitionsBeforeRanking) {
  const Graph graph =
      with_search_head(model("return logits = %scores\n"), SearchHead::k_best,
                       {.k = 2, .repetition = {.penalty = 1.5f, .no_repeat_ngram_size = 3}});
  verify(graph);
  std::string text(kModel);
  text.insert(text.find("%E"), kHistory);
  text += R"(%p = log_softmax(%scores)
%n = row_number() {via = [hyp.word]}
%t = history(%n) {domain = prefix}
%q = penalize_repeats(%p, %t) {to = [hyp_words.left], via = [hyp_words.right], penalty = 1.5, ngram = 3}
%s, %w = k_best(%q) {k = 2}
return best_scores = %s, best_words = %w
)";
  EXPECT_TRUE(same_graph(graph, parse_graph(text, "test.ir", all_ops()))) << print_graph(graph);
}

TEST(SearchHead, ForbidsSequences) {
  const Graph graph =
      with_search_head(model("return logits = %scores\n"), SearchHead::k_best,
                       {.k = 2, .forbidden = {{1, 2}, {5, 1}, {}, {3, 3, 0}}, .start_word = 3});
  verify(graph);
  std::string text(kModel);
  text.insert(text.find("%E"), kHistory);
  text += R"(%p = log_softmax(%scores)
%n = row_number() {via = [hyp.word], unmapped = 3}
%t = history(%n) {domain = prefix}
%q = penalize_repeats(%p, %t) {to = [hyp_words.left], via = [hyp_words.right], forbidden = [1, 2, -1, 3, 3, 0, -1]}
%s, %w = k_best(%q) {k = 2}
return best_scores = %s, best_words = %w
)";
  EXPECT_TRUE(same_graph(graph, parse_graph(text, "test.ir", all_ops()))) << print_graph(graph);
}

void expect_scores_of_logits(const SearchHeadOptions& options, std::string_view domains,
                             const std::string& made) {
  constexpr std::string_view kBiased = "%b = param() {name = \"b\", dims = [5]}\n";
  const Graph graph =
      with_search_head(model(std::string(kBiased) + "%l = add(%scores, %b)\nreturn logits = %l\n"),
                       SearchHead::k_best, options);
  verify(graph);
  std::string text = std::string(kModel) + std::string(kBiased);
  text.insert(text.find("%E"), domains);
  EXPECT_TRUE(
      same_graph(graph, parse_graph(text + made + "return best_scores = %s, best_words = %w\n",
                                    "test.ir", all_ops())))
      << print_graph(graph);
}

/// The bias of words without 1 and 4.
constexpr std::string_view kMasked = R"(%0 = constant() {values = [0], dims = [1]}
%1 = constant() {values = [-1e9], dims = [1]}
%2 = constant() {values = [0], dims = [2]}
%4 = constant() {values = [-1e9], dims = [1]}
%m = concat(%0, %1, %2, %4)
)";

TEST(SearchHead, WordsThatAreLeftOutHaveALowBias) {
  expect_scores_of_logits(
      {.k = 2, .suppressed = {4, 1, 9, -1}, .renormalize = true}, "",
      "%unused = add(%scores, %b)\n" + std::string(kMasked) + R"(%c = add(%b, %m)
%l = add(%scores, %c)
%p = log_softmax(%l)
%s, %w = k_best(%p) {k = 2}
)");
}

TEST(SearchHead, EndsThatAreTooEarlyAreLeftOut) {
  expect_scores_of_logits({.k = 2, .renormalize = true, .min_length = 3, .end_id = 4}, "",
                          R"(%l = add(%scores, %b)
%position = position() {domain = hyp}
%length = cast(%position) {to = f32}
%least = constant() {values = [3]}
%short = less(%length, %least)
%others = constant() {values = [0], dims = [4]}
%end = constant() {values = [-1e9], dims = [1]}
%m = concat(%others, %end)
%n = mul(%short, %m)
%o = add(%l, %n)
%p = log_softmax(%o)
%s, %w = k_best(%p) {k = 2}
)");
}

TEST(SearchHead, RepeatedWordsAreLeftOutBehindAPenaltyOnly) {
  const std::string history = R"(%n = row_number() {via = [hyp.word]}
%t = history(%n) {domain = prefix}
)";
  const auto repeats = [](const char* scores, const char* attributes) {
    return fmt::format(
        "%q = penalize_repeats({}, %t) {{to = [hyp_words.left], via = [hyp_words.right], {}}}\n",
        scores, attributes);
  };
  expect_scores_of_logits({.k = 2, .repetition = {.no_repeat_ngram_size = 3}, .renormalize = true},
                          kHistory,
                          "%l = add(%scores, %b)\n" + history + repeats("%l", "ngram = 3") +
                              "%p = log_softmax(%q)\n%s, %w = k_best(%p) {k = 2}\n");
  expect_scores_of_logits(
      {.k = 2, .repetition = {.penalty = 1.5f}, .suppressed = {1, 4}, .renormalize = true},
      kHistory,
      "%l = add(%scores, %b)\n%a = log_softmax(%l)\n" + history + repeats("%a", "penalty = 1.5") +
          std::string(kMasked) +
          "%c = add(%q, %m)\n%p = log_softmax(%c)\n%s, %w = k_best(%p) {k = 2}\n");
}

TEST(SearchHead, PenalizesLogitsWhereAsked) {
  expect_scores_of_logits({.k = 2, .repetition = {.penalty = 1.5f}, .penalizes_logits = true},
                          kHistory,
                          R"(%l = add(%scores, %b)
%n = row_number() {via = [hyp.word]}
%t = history(%n) {domain = prefix}
%q = penalize_repeats(%l, %t) {to = [hyp_words.left], via = [hyp_words.right], penalty = 1.5}
%p = log_softmax(%q)
%s, %w = k_best(%p) {k = 2}
)");
}

TEST(SearchHead, RefusesPenaltiesOutOfRange) {
  const auto with = [](const Repetition& repetition) {
    return [=] {
      with_search_head(model("return logits = %scores\n"), SearchHead::k_best,
                       {.repetition = repetition});
    };
  };
  EXPECT_THAT(with({.penalty = 0}), ThrowsMessage<Error>(HasSubstr("must be above 0, not 0")));
  EXPECT_THAT(with({.no_repeat_ngram_size = -1}),
              ThrowsMessage<Error>(HasSubstr("must be from 0 to 1000, not -1")));
}

// --- Shortlists ---

constexpr std::string_view kShortlist = R"(domain shortlist = shortlist of sentence
map shortlist.word : shortlist -> vocab
domain hyp_shortlist = pairs of hyp, shortlist
)";

/// What kModel computes, and `rest`, with the words of shortlists.
Graph model_with_shortlist(const std::string& rest) {
  std::string text(kModel);
  text.insert(text.find("%E"), kShortlist);
  return parse_graph(text + rest, "test.ir", all_ops());
}

TEST(ShortlistHead, NormalizesTheLogitsOfItsWords) {
  const std::string elements =
      "%e = select_elements(%scores) {row = [hyp_shortlist.left], "
      "element = [hyp_shortlist.right, shortlist.word]}\n";
  const std::string best =
      "{k = 2, to = [hyp_shortlist.left], words = [hyp_shortlist.right, shortlist.word]}\n"
      "return best_scores = %s, best_words = %w, alignment = %alignment\n";
  const Graph given = model("return logits = %scores, alignment = %alignment\n");
  const Graph scores = with_search_head(given, SearchHead::k_best, {.k = 2, .shortlist = true});
  verify(scores);
  EXPECT_TRUE(same_graph(
      scores, model_with_shortlist(elements +
                                   "%p = segment_log_softmax(%e) {to = [hyp_shortlist.left]}\n"
                                   "%s, %w = segment_k_best(%p) " +
                                   best)))
      << print_graph(scores);
  const Graph logits =
      with_search_head(given, SearchHead::k_best_logits, {.k = 2, .shortlist = true});
  EXPECT_TRUE(
      same_graph(logits, model_with_shortlist(elements + "%s, %w = segment_k_best(%e) " + best)))
      << print_graph(logits);
}

TEST(ShortlistHead, DrawsFromItsWords) {
  const Graph given = model("return logits = %scores\n");
  const std::string scores =
      "%e = select_elements(%scores) {row = [hyp_shortlist.left], "
      "element = [hyp_shortlist.right, shortlist.word]}\n"
      "%p = segment_log_softmax(%e) {to = [hyp_shortlist.left]}\n" +
      std::string(kRandom);
  const std::string paths =
      "to = [hyp_shortlist.left], words = [hyp_shortlist.right, shortlist.word]";
  const std::string outputs = "return best_scores = %s, best_words = %w\n";
  const auto head = [&](const Sampling& sampling) {
    return with_search_head(given, SearchHead::k_best,
                            {.shortlist = true, .sampling = sampling, .suppressed = {1}});
  };
  EXPECT_TRUE(same_graph(head({.method = SamplingMethod::nucleus, .p = 0.25}),
                         model_with_shortlist(scores + "%s, %w = segment_sample(%p, %u) {" + paths +
                                              ", top_p = 0.25, excluded = [1]}\n" + outputs)));
  EXPECT_TRUE(same_graph(
      head({.method = SamplingMethod::top_k, .k = 2}),
      model_with_shortlist(scores + "%a, %i = segment_k_best(%p) {k = 3, " + paths + "}\n" +
                           "%s, %w = sample(%a, %u, %i) {top_k = 2, excluded = [1]}\n" + outputs)));
}

TEST(SearchHead, GivesTheScoresOfListedWords) {
  const Graph graph = with_search_head(model("return logits = %scores\n"), SearchHead::k_best,
                                       {.k = 2, .listed = true});
  verify(graph);
  EXPECT_TRUE(same_graph(
      graph,
      model_with_shortlist("%p = log_softmax(%scores)\n"
                           "%s, %w = k_best(%p) {k = 2}\n"
                           "%e = select_elements(%p) {row = [hyp_shortlist.left], "
                           "element = [hyp_shortlist.right, shortlist.word]}\n"
                           "return best_scores = %s, best_words = %w, listed_scores = %e\n")))
      << print_graph(graph);
}

TEST(ShortlistHead, GivesTheScoresOfAllItsWordsAsListed) {
  const Graph graph = with_search_head(model("return logits = %scores\n"), SearchHead::k_best,
                                       {.shortlist = true, .listed = true});
  EXPECT_EQ(graph.find_output("listed_scores"),
            graph.node(graph.value(graph.find_output("best_scores")).producer).operands[0]);
}

TEST(ShortlistHead, LeavesOutTheAlignmentAndCapsK) {
  const Graph graph =
      with_search_head(model("return logits = %scores, alignment = %alignment\n"),
                       SearchHead::k_best, {.k = 100, .alignment = false, .shortlist = true});
  EXPECT_FALSE(graph.find_output("alignment").valid());
  EXPECT_EQ(graph.value(graph.find_output("best_words")).type.dims, Dims{5});
}

TEST(ShortlistHead, DeclaresAVocabularyForScoresOfOtherWords) {
  const Graph graph = with_search_head(
      model(
          "%w = param() {name = \"w\", dims = [3, 7]}\n%l = matmul(%y, %w)\nreturn logits = %l\n"),
      SearchHead::k_best, {.shortlist = true});
  const RowMap& words = graph.map(graph.find_map("shortlist.word"));
  EXPECT_EQ(graph.domain(words.to).size, 7);
  verify(graph);
}

/// A sum of log-probabilities, and the first of them on its own.
constexpr std::string_view kSum = R"(%w = constant() {values = [0.25]}
%p = log_softmax(%scores)
%v = param() {name = "v", dims = [3, 5]}
%l = matmul(%y, %v)
%q = log_softmax(%l)
%m = mul(%p, %w)
%sum = add(%m, %q)
return log_probs = %sum, log_probs.0 = %p, log_probs.1 = %q
)";

TEST(SearchHead, KeepsTheScoresOfEachModelWhenAsked) {
  const Graph given = model(std::string(kSum));
  const auto outputs = [](const Graph& graph) {
    std::vector<std::string> names;
    for (const Output& output : graph.outputs()) names.push_back(output.name);
    return names;
  };
  EXPECT_THAT(outputs(with_search_head(given, SearchHead::k_best)),
              ::testing::ElementsAre("best_scores", "best_words"));
  EXPECT_THAT(
      outputs(with_search_head(given, SearchHead::k_best, {.alignment = false, .members = true})),
      ::testing::ElementsAre("best_scores", "best_words", "log_probs.0", "log_probs.1"));
}

TEST(ShortlistHead, NormalizesEachModelOfASumOverItsWords) {
  const Graph graph =
      with_search_head(model(std::string(kSum)), SearchHead::k_best,
                       {.k = 2, .alignment = false, .shortlist = true, .members = true});
  verify(graph);
  const std::string paths =
      "{row = [hyp_shortlist.left], element = [hyp_shortlist.right, shortlist.word]}\n";
  EXPECT_TRUE(same_graph(
      graph, model_with_shortlist(
                 "%w = constant() {values = [0.25]}\n%e = select_elements(%scores) " + paths +
                 "%p = segment_log_softmax(%e) {to = [hyp_shortlist.left]}\n"
                 "%v = param() {name = \"v\", dims = [3, 5]}\n%l = matmul(%y, %v)\n"
                 "%g = select_elements(%l) " +
                 paths +
                 "%q = segment_log_softmax(%g) {to = [hyp_shortlist.left]}\n"
                 "%m = mul(%p, %w)\n%sum = add(%m, %q)\n"
                 "%best, %words = segment_k_best(%sum) {k = 2, to = [hyp_shortlist.left], "
                 "words = [hyp_shortlist.right, shortlist.word]}\n"
                 // No output needs the scores of all words any more.
                 "%a = log_softmax(%scores)\n%b = log_softmax(%l)\n"
                 "%c = mul(%a, %w)\n%d = add(%c, %b)\n"
                 "return best_scores = %best, best_words = %words, log_probs.0 = %p, "
                 "log_probs.1 = %q\n")))
      << print_graph(graph);
}

TEST(ShortlistHead, RefusesWhatHasNoLogitsOfHypotheses) {
  const auto head = [](const std::string& outputs) {
    return [outputs] {
      with_search_head(model("return " + outputs + "\n"), SearchHead::k_best, {.shortlist = true});
    };
  };
  EXPECT_THAT(head("log_probs = %scores"),
              ThrowsMessage<Error>(HasSubstr("its log-probabilities come from")));
  EXPECT_THAT(head("logits = %E"), ThrowsMessage<Error>(HasSubstr("they are vocab f32[3]")));
}

}  // namespace
}  // namespace fuselage
