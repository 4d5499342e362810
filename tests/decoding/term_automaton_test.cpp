#include "decoding/search/term_automaton.h"

#include <gmock/gmock.h>

#include <set>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

const std::vector<bool> kNoneContinues;

TermState after(const TermAutomaton& terms, const WordIds& words) {
  TermState state;
  for (const std::int32_t word : words) state = terms.advance(state, word);
  return state;
}

std::set<std::int32_t> next_words(const TermAutomaton& terms, const TermState& state) {
  std::set<std::int32_t> words;
  terms.for_next_words(state, [&](std::int32_t word) { words.insert(word); });
  return words;
}

TEST(TermAutomaton, CountsTheWordsOfTermsThatAHypothesisHas) {
  const std::vector<TermForms> forms{{{1, 2, 3}}, {{5}}};
  const TermAutomaton terms(forms, kNoneContinues);
  EXPECT_EQ(terms.total(), 4);
  EXPECT_EQ(terms.words_met(after(terms, {})), 0);
  EXPECT_EQ(terms.words_met(after(terms, {1, 2})), 2);
  EXPECT_EQ(terms.words_met(after(terms, {1, 2, 9})), 0)
      << "an interrupted form counts for nothing";
  EXPECT_EQ(terms.words_met(after(terms, {5, 1})), 2);
  EXPECT_FALSE(terms.all_met(after(terms, {1, 2, 3})));
  EXPECT_TRUE(terms.all_met(after(terms, {1, 2, 3, 8, 5, 7})));
  EXPECT_EQ(terms.words_met(after(terms, {1, 2, 3, 5, 1, 2})), 4) << "a met term counts once";
}

TEST(TermAutomaton, ProposesTheWordsThatBeginOrContinueOpenTerms) {
  const std::vector<TermForms> forms{{{1, 2, 3}}, {{5, 6}, {7}}};
  const TermAutomaton terms(forms, kNoneContinues);
  EXPECT_THAT(next_words(terms, after(terms, {})), ElementsAre(1, 5, 7));
  EXPECT_THAT(next_words(terms, after(terms, {1})), ElementsAre(1, 2, 5, 7));
  EXPECT_THAT(next_words(terms, after(terms, {7})), ElementsAre(1));
  EXPECT_THAT(next_words(terms, after(terms, {7, 5})), ElementsAre(1));
  EXPECT_THAT(next_words(terms, after(terms, {7, 1, 2, 3})), IsEmpty());
}

TEST(TermAutomaton, IsMetByAnyForm) {
  const std::vector<TermForms> forms{{{1, 2}, {3, 4, 5}}};
  const TermAutomaton terms(forms, kNoneContinues);
  EXPECT_EQ(terms.total(), 2) << "the words of the shortest form";
  EXPECT_TRUE(terms.all_met(after(terms, {1, 2})));
  EXPECT_TRUE(terms.all_met(after(terms, {3, 4, 5})));
  EXPECT_EQ(terms.words_met(after(terms, {3})), 0);
  EXPECT_EQ(terms.words_met(after(terms, {3, 4})), 1);
}

TEST(TermAutomaton, FindsFormsThatBeginWithinOthers) {
  const std::vector<TermForms> forms{{{1, 1, 2}}, {{1, 2, 4}}, {{2}}};
  const TermAutomaton terms(forms, kNoneContinues);
  EXPECT_EQ(terms.words_met(after(terms, {1, 1, 1, 2})), 4)
      << "the first form, and the third in it";
  EXPECT_TRUE(terms.all_met(after(terms, {1, 1, 2, 4})));
}

TEST(TermAutomaton, IsNotMetByTheBeginningOfALongerWord) {
  std::vector<bool> continues(10);
  continues[9] = true;
  const std::vector<TermForms> forms{{{1, 2}}};
  const TermAutomaton terms(forms, continues);
  EXPECT_TRUE(terms.all_met(after(terms, {1, 2})));
  EXPECT_FALSE(terms.all_met(after(terms, {1, 2, 9})));
  EXPECT_THAT(next_words(terms, after(terms, {1, 2, 9})), ElementsAre(1));
  EXPECT_TRUE(terms.all_met(after(terms, {1, 2, 8, 9}))) << "another word follows first";
  EXPECT_TRUE(terms.all_met(after(terms, {1, 2, 9, 1, 2})));
  EXPECT_TRUE(terms.all_met(after(terms, {1, 2, 3, 1, 2, 9}))) << "met before";
}

TEST(TermAutomaton, RefusesMoreThanItCanFollow) {
  const std::vector<TermForms> many(kMaxTerms + 1, TermForms{{1}});
  EXPECT_THAT([&] { TermAutomaton(many, kNoneContinues); },
              ThrowsMessage<Error>(HasSubstr("65 terms, but at most 64")));
  const std::vector<TermForms> long_one{{WordIds(kMaxTermWords + 1, 3)}};
  EXPECT_THAT([&] { TermAutomaton(long_one, kNoneContinues); },
              ThrowsMessage<Error>(HasSubstr("words together, but at most 4096")));
}

}  // namespace
}  // namespace fuselage
