#include "text/shortlist/lexicon.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "text/words/word_vocabulary.h"

namespace fuselage {
namespace {

class Lexicon : public ::testing::Test {
 protected:
  SentencePair pair(const std::string& source, const std::string& target) const {
    SentencePair pair{source_->encode(source), target_->encode(target)};
    pair.source.pop_back();
    pair.target.pop_back();
    return pair;
  }
  std::vector<SentencePair> text() const {
    return {pair("the house", "das Haus"),
            pair("the book", "das Buch"),
            pair("a book", "ein Buch"),
            pair("a house", "ein Haus"),
            pair("a red house", "ein rotes Haus"),
            pair("the red book", "das rote Buch")};
  }

  // Ids from 2 on.
  std::unique_ptr<const Vocabulary> source_ =
      parse_word_vocabulary("</s>\n<unk>\nthe\na\nhouse\nbook\nred\nunseen\n", "txt", "source", {});
  std::unique_ptr<const Vocabulary> target_ = parse_word_vocabulary(
      "</s>\n<unk>\ndas\nein\nHaus\nBuch\nrotes\nrote\n", "txt", "target", {});
  LexicalSides sides_{*source_, *target_};
};

TEST_F(Lexicon, FindsTranslations) {
  std::map<std::string, std::string> best;
  std::map<WordId, double> sums;
  for (const LexiconEntry& entry : learn_lexicon(text(), {.threshold = 0})) {
    best.emplace(source_->word(entry.source), target_->word(entry.target));
    EXPECT_GT(entry.probability, 0);
    sums[entry.source] += entry.probability;
  }
  EXPECT_EQ(best["the"], "das");
  EXPECT_EQ(best["a"], "ein");
  EXPECT_EQ(best["house"], "Haus");
  EXPECT_EQ(best["book"], "Buch");
  EXPECT_TRUE(best["red"].starts_with("rote")) << best["red"];
  EXPECT_FALSE(best.contains("unseen"));
  for (const auto& [word, sum] : sums) EXPECT_NEAR(sum, 1, 1e-6) << source_->word(word);
}

TEST_F(Lexicon, LeavesOutWhatIsUnlikely) {
  for (const LexiconEntry& entry : learn_lexicon(text(), {.threshold = 0.25}))
    EXPECT_GE(entry.probability, 0.25);
}

TEST_F(Lexicon, OfNothingIsEmpty) { EXPECT_TRUE(learn_lexicon({}).empty()); }

TEST_F(Lexicon, BothFormsAreReadAlike) {
  const std::vector<LexiconEntry> entries = learn_lexicon(text());
  const LexicalLimits limits{.first = 3, .best = 2, .threshold = 0.01};
  const LexicalTable text =
      parse_lexical_text(print_lexical_text(entries, sides_), "lex", sides_, limits);
  const LexicalTable binary =
      parse_lexical_binary(print_lexical_binary(entries, sides_, limits), "lex.bin", sides_);
  EXPECT_EQ(binary.first, 3);
  for (WordId source = 0; source < source_->size(); ++source) {
    std::vector<WordId> ids(text.of(source).begin(), text.of(source).end());
    std::sort(ids.begin(), ids.end());
    EXPECT_THAT(std::vector<WordId>(binary.of(source).begin(), binary.of(source).end()),
                ::testing::ElementsAreArray(ids))
        << source;
  }
}

TEST_F(Lexicon, TextIsTargetSourceProbability) {
  EXPECT_EQ(print_lexical_text(std::vector<LexiconEntry>{{4, 4, 0.5}, {2, 4, 0.125}}, sides_),
            "Haus house 0.5\ndas house 0.125\n");
}

}  // namespace
}  // namespace fuselage
