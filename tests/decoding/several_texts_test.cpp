// Translation of several source texts, one of them with a factor.

#include <gmock/gmock.h>

#include <fstream>
#include <random>

#include "fuselage/base/error.h"
#include "fuselage/decoding/scorer.h"
#include "fuselage/decoding/translator.h"
#include "fuselage/models/make_model.h"
#include "fuselage/ops/builder.h"
#include "tests/decoding/support.h"
#include "tests/random_weights.h"

namespace fuselage::several_texts_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::int64_t kWords = 8, kCases = 4, kSize = 6;

/// The means of two texts, the first one with a factor, are the state of the decoder.
Graph two_texts() {
  Builder b("two texts");
  Graph& g = b.graph();
  const DomainId words = g.add_vocabulary("words", kWords);
  const DomainId cases = g.add_vocabulary("cases", kCases);
  const DomainId sentence = g.add_sentences("sentence");
  const DomainId text = g.add_source("text", sentence);
  const DomainId context = g.add_source("context", sentence);
  const DomainId parent = g.add_parents("parent", sentence);
  const DomainId hyp = g.add_hypotheses("hyp", parent);
  const MapId text_word = g.add_word_map("text.word", text, words, false);
  const MapId text_case = g.add_word_map("text.case", text, cases, false);
  const MapId context_word = g.add_word_map("context.word", context, words, false);
  const MapId last_word = g.add_word_map("hyp.word", hyp, words, true);
  const Expr embedding = b.param("E", {kSize}, words);
  const Expr x =
      select_rows(embedding, {text_word}) + select_rows(b.param("F", {kSize}, cases), {text_case});
  const Expr y = select_rows(embedding, {context_word});
  const Expr start = mean_rows(x) + dot(mean_rows(y), b.param("W", {kSize, kSize}));
  const Expr state = b.state(start, parent);
  const Expr next = tanh(broadcast(state, hyp) + select_rows(embedding, {last_word}));
  b.next(state, next);
  b.output("logits", dot_transposed(next, embedding));
  return b.take();
}

class SeveralTexts : public ::testing::Test {
 protected:
  SeveralTexts() {
    std::ofstream(words_) << "</s>\n<unk>\na\nb\nc\nd\ne\nf\n";
    std::ofstream(cases_) << "</s>\n<unk>\nlower\nupper\n";
  }

  Model model(const std::vector<std::string>& vocabularies) const {
    Graph graph = two_texts();
    std::mt19937 random(5);
    const TensorMap weights = weights_for(graph, [&](const Type&, const Dims& shape) {
      return tensor_of(shape, [&] { return static_cast<float>(random() % 2001) / 500.0f - 2.0f; });
    });
    return make_model(std::move(graph), weights, vocabularies);
  }
  Model model() const { return model({words_, cases_, words_, words_}); }

  support::TemporaryFolder folder_;
  std::string words_ = folder_ / "words.txt";
  std::string cases_ = folder_ / "cases.txt";
};

TEST_F(SeveralTexts, AreFieldsOfALine) {
  const std::vector<std::string> lines{"a b\tlower upper\tc", "a b\tlower lower\tc",
                                       "d\tupper\te f a", "", "a b\tlower upper\t"};
  const auto log_probability = [](const Translation& translation) {
    return translation.n_best.at(0).hypothesis.log_probability;
  };
  std::vector<float> expected;
  for (const std::string_view backend : {"reference", "cpu"}) {
    const Translator translator(model(),
                                {.beam_size = 3, .compile = {.backend = std::string(backend)}});
    const std::vector<Translation> together = translator.translate(lines);
    ASSERT_EQ(together.size(), lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Translation alone = translator.translate(lines[i]);
      EXPECT_EQ(together[i].n_best.at(0).text, alone.n_best.at(0).text);
      EXPECT_EQ(log_probability(together[i]), log_probability(alone));
      if (backend == "reference")
        expected.push_back(log_probability(alone));
      else
        EXPECT_NEAR(log_probability(alone), expected[i], 1e-5);
    }
    // Each text and the factor count.
    EXPECT_NE(log_probability(together[0]), log_probability(together[1]));
    EXPECT_NE(log_probability(together[0]), log_probability(together[4]));
  }
}

TEST_F(SeveralTexts, MustBeComplete) {
  const Translator translator(model());
  EXPECT_THAT([&] { translator.translate("a b"); },
              ThrowsMessage<Error>(
                  HasSubstr("line 1 has 1 fields, but the model reads 3, separated by tabs: "
                            "text.word, text.case, context.word")));
  EXPECT_THAT([&] { translator.translate("a b\tlower\tc"); },
              ThrowsMessage<Error>(HasSubstr(
                  "line 1 has 1 words in field 2, 'text.case', but 2 in field 1, 'text.word'")));
  EXPECT_THAT(
      [&] {
        Translator translator_of_two(model({words_, words_}));
      },
      ThrowsMessage<Error>(
          HasSubstr("4 files, of text.word, text.case, context.word and the target's, not 2")));
  EXPECT_THAT([&] { Scorer scorer(model()); },
              ThrowsMessage<Error>(HasSubstr("scoring is possible with one source text")));
}

TEST_F(SeveralTexts, WithFactorsHaveNoPlaceholders) {
  EXPECT_THAT([&] { Translator(model(), {.placeholders = std::vector<std::string>{"a"}}); },
              ThrowsMessage<Error>(HasSubstr("placeholders change the number of words of a text")));
}

}  // namespace
}  // namespace fuselage::several_texts_test
