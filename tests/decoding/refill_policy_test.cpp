#include "decoding/queue/refill_policy.h"

#include <gtest/gtest.h>

namespace fuselage::refill_policy_test {
namespace {

TEST(RefillPolicy, RefillsAtOnce) {
  const RefillPolicy policy(Refill::at_once, 8);
  EXPECT_FALSE(policy.is_due(0));
  EXPECT_TRUE(policy.is_due(1));
}

TEST(RefillPolicy, RefillsWhenHalfOfThePlacesAreFree) {
  const RefillPolicy policy(Refill::half_empty, 7);
  EXPECT_FALSE(policy.is_due(3));
  EXPECT_TRUE(policy.is_due(4));
}

/// A policy for 8 places that has seen batches of sentences of 10 words, which take 3 seconds and 1
/// second for each sentence, and steps of 4 seconds, and half a second for each.
RefillPolicy policy_by_cost() {
  RefillPolicy policy(Refill::by_cost, 8);
  for (const std::size_t free : {0u, 4u, 2u, 6u})
    policy.stepped(free, 4 + 0.5 * static_cast<double>(8 - free));
  for (const std::size_t sentences : {8u, 1u, 2u, 5u})
    policy.encoded(10 * sentences, 10, 3.0 + static_cast<double>(sentences));
  return policy;
}

TEST(RefillPolicy, RefillsWhenFreePlacesHaveCostAsMuchAsEncoding) {
  RefillPolicy policy = policy_by_cost();
  EXPECT_FALSE(policy.is_due(1));
  policy.stepped(2, 7);  // a quarter of 4 seconds is lost
  EXPECT_FALSE(policy.is_due(2));
  policy.stepped(3, 6.5);
  EXPECT_FALSE(policy.is_due(3));
  policy.stepped(3, 6.5);
  EXPECT_TRUE(policy.is_due(3));
  policy.encoded(30, 10, 6);
  EXPECT_FALSE(policy.is_due(1));
}

TEST(RefillPolicy, WaitsHardlyLongerAfterALongSentence) {
  RefillPolicy policy = policy_by_cost();
  policy.encoded(400, 400, 400 * 0.4);
  policy.stepped(3, 6.5);
  policy.stepped(3, 6.5);
  EXPECT_FALSE(policy.is_due(3));
  policy.stepped(3, 6.5);
  EXPECT_TRUE(policy.is_due(3));
}

TEST(RefillPolicy, RefillsAtTheLatestWhenHalfOfThePlacesAreFree) {
  const RefillPolicy policy = policy_by_cost();
  EXPECT_FALSE(policy.is_due(3));
  EXPECT_TRUE(policy.is_due(4));
}

TEST(RefillPolicy, RefillsAtOnceWhileTheCostIsNotKnown) {
  RefillPolicy policy(Refill::by_cost, 8);
  EXPECT_TRUE(policy.is_due(1));
  policy.encoded(40, 10, 7);
  policy.encoded(40, 10, 7);
  EXPECT_TRUE(policy.is_due(1));
}

}  // namespace
}  // namespace fuselage::refill_policy_test
