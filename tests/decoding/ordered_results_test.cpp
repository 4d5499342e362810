#include "decoding/queue/ordered_results.h"

#include <gmock/gmock.h>

#include <stdexcept>
#include <thread>

namespace fuselage::ordered_results_test {
namespace {

using ::testing::ElementsAre;

class OrderedResultsTest : public ::testing::Test {
 protected:
  std::vector<std::size_t> handed_on_;
  OrderedResults results_{[this](std::size_t line, Translation&&) {
                            if (line == 7) throw std::runtime_error("the sink fails");
                            handed_on_.push_back(line);
                          },
                          4};

  void put(std::size_t line) { results_.put(line, {}, nullptr); }
};

TEST_F(OrderedResultsTest, AreInTheOrderOfTheirLines) {
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(results_.begin_line(), i);
  put(2);
  put(1);
  EXPECT_THAT(handed_on_, ElementsAre());
  put(0);
  EXPECT_THAT(handed_on_, ElementsAre(0, 1, 2));
  results_.begin_line();
  results_.drop_last_line();
  results_.finish();
}

TEST_F(OrderedResultsTest, BeginFewLinesAhead) {
  for (std::size_t i = 0; i < 4; ++i) results_.begin_line();
  std::thread other([this] { put(0); });
  EXPECT_EQ(results_.begin_line(), 4u) << "after the first one has been handed on";
  EXPECT_THAT(handed_on_, ElementsAre(0));
  other.join();
}

TEST_F(OrderedResultsTest, EndWithTheFirstErrorAfterAllEarlierLines) {
  for (std::size_t i = 0; i < 3; ++i) results_.begin_line();
  results_.put(1, {}, std::make_exception_ptr(std::runtime_error("line 1")));
  results_.rethrow_failure();
  put(2);
  put(0);
  EXPECT_THAT(handed_on_, ElementsAre(0));
  EXPECT_THROW(results_.begin_line(), std::runtime_error);
  EXPECT_THROW(results_.finish(), std::runtime_error);
}

TEST_F(OrderedResultsTest, EndWithTheErrorOfTheSink) {
  for (std::size_t i = 0; i < 8; ++i) put(results_.begin_line());
  EXPECT_THROW(results_.rethrow_failure(), std::runtime_error);
  EXPECT_EQ(handed_on_.size(), 7u);
}

}  // namespace
}  // namespace fuselage::ordered_results_test
