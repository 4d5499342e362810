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

TEST(RefillPolicy, RefillsWhenFreePlacesHaveCostAsMuchAsEncoding) {
  RefillPolicy policy(Refill::by_cost, 8);
  // 3 seconds, and 1 second for each sentence.
  for (const std::size_t sentences : {8u, 1u, 2u, 5u})
    policy.encoded(sentences, 3.0 + static_cast<double>(sentences));
  EXPECT_FALSE(policy.is_due(1));
  policy.stepped(2, 8);
  EXPECT_FALSE(policy.is_due(2));
  policy.stepped(4, 1.9);
  EXPECT_FALSE(policy.is_due(4));
  policy.stepped(4, 0.2);
  EXPECT_TRUE(policy.is_due(4));
  policy.encoded(4, 7);
  EXPECT_FALSE(policy.is_due(1));
}

TEST(RefillPolicy, RefillsAtOnceWhileTheCostIsNotKnown) {
  RefillPolicy policy(Refill::by_cost, 8);
  EXPECT_TRUE(policy.is_due(1));
  policy.encoded(4, 7);
  policy.encoded(4, 7);
  EXPECT_TRUE(policy.is_due(1));
}

}  // namespace
}  // namespace fuselage::refill_policy_test
