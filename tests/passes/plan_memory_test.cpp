#include "passes/lowering/plan_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

using ::testing::ElementsAre;

std::size_t aligned(std::size_t size) { return (size + 63) / 64 * 64; }

/// Everything that a plan promises.
void expect_valid(const std::vector<BufferLifetime>& buffers, const MemoryPlan& plan) {
  ASSERT_EQ(plan.offsets.size(), buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const std::size_t end = plan.offsets[i] + buffers[i].size_bytes;
    EXPECT_EQ(plan.offsets[i] % kBufferAlignment, 0u);
    EXPECT_LE(end, plan.arena_bytes);
    for (std::size_t k = 0; k < i; ++k) {
      if (buffers[k].last < buffers[i].first || buffers[i].last < buffers[k].first) continue;
      EXPECT_TRUE(end <= plan.offsets[k] ||
                  plan.offsets[k] + buffers[k].size_bytes <= plan.offsets[i])
          << i << " and " << k << " overlap";
    }
  }
  std::size_t most = 0;
  for (std::uint32_t step = 0; step < 200; ++step) {
    std::size_t live = 0;
    for (const BufferLifetime& buffer : buffers)
      if (buffer.first <= step && step <= buffer.last) live += aligned(buffer.size_bytes);
    most = std::max(most, live);
  }
  EXPECT_EQ(most_live_bytes(buffers), most);
  EXPECT_GE(plan.arena_bytes, most_live_bytes(buffers));
}

TEST(PlanMemory, PlacesNothingInNothing) {
  const MemoryPlan plan = plan_memory({});
  EXPECT_EQ(plan.arena_bytes, 0u);
  EXPECT_EQ(most_live_bytes({}), 0u);
}

TEST(PlanMemory, UsesPlacesAgain) {
  const std::vector<BufferLifetime> chain{{100, 0, 1}, {100, 1, 2}, {100, 2, 3}, {100, 3, 4}};
  const MemoryPlan plan = plan_memory(chain);
  expect_valid(chain, plan);
  EXPECT_EQ(plan.arena_bytes, 256u);
}

TEST(PlanMemory, TreatsLastStepsAsInclusive) {
  const std::vector<BufferLifetime> buffers{{64, 0, 3}, {64, 3, 5}};
  EXPECT_EQ(plan_memory(buffers).arena_bytes, 128u);
  const std::vector<BufferLifetime> apart{{64, 0, 3}, {64, 4, 5}};
  EXPECT_EQ(plan_memory(apart).arena_bytes, 64u);
}

TEST(PlanMemory, ChoosesTheSmallestGapThatHolds) {
  // Two long-lived buffers of different sizes die beside a third; what follows fits the smaller
  // gap.
  const std::vector<BufferLifetime> buffers{
      {640, 0, 0}, {320, 0, 9}, {256, 0, 0}, {192, 0, 9}, {128, 1, 9}};
  const MemoryPlan plan = plan_memory(buffers);
  expect_valid(buffers, plan);
  EXPECT_THAT(plan.offsets, ElementsAre(0, 640, 960, 1216, 960));
}

TEST(PlanMemory, GivesEmptyBuffersNoRoom) {
  const std::vector<BufferLifetime> buffers{{0, 0, 9}, {64, 0, 9}};
  EXPECT_EQ(plan_memory(buffers).arena_bytes, 64u);
}

TEST(PlanMemory, RefusesBuffersThatDieBeforeTheyAreMade) {
  const std::vector<BufferLifetime> buffers{{64, 2, 1}};
  EXPECT_THROW(plan_memory(buffers), InternalError);
}

TEST(PlanMemory, NeverOverlapsAndStaysNearTheBound) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<BufferLifetime> buffers;
    for (std::uint32_t step = 0; step < 150; ++step) {
      // As in a network: most values die soon, some live on.
      const auto life =
          static_cast<std::uint32_t>(random() % 8 == 0 ? random() % 40 : random() % 4);
      const std::size_t widths[] = {256, 512, 1024, 2048, 4096, 100};
      buffers.push_back(
          {widths[random() % 6] * (1 + random() % 8), step, std::min(step + life, 199u)});
    }
    const MemoryPlan plan = plan_memory(buffers);
    expect_valid(buffers, plan);
    EXPECT_LE(static_cast<double>(plan.arena_bytes),
              1.3 * static_cast<double>(most_live_bytes(buffers)));
  }
}

}  // namespace
}  // namespace fuselage
