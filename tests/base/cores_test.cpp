#include "base/machine/cores.h"

#include <gmock/gmock.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/temp_path.h"

namespace fuselage {
namespace {

using ::testing::ElementsAre;

/// Control groups as the kernel would show them.
class ControlGroups : public ::testing::Test {
 protected:
  ControlGroups() { std::filesystem::remove_all(root_); }
  ~ControlGroups() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  double limit(std::string_view membership) const { return cgroup_cpus(membership, root_); }

  const std::string root_ = temp_path("cgroups");
};

TEST_F(ControlGroups, OfVersionTwoLimitByCpuMax) {
  write("a/b/cpu.max", "250000 100000\n");
  EXPECT_EQ(limit("0::/a/b\n"), 2.5);
}

TEST_F(ControlGroups, AroundAGroupLimitItToo) {
  write("cpu.max", "800000 100000\n");
  write("a/cpu.max", "150000 100000\n");
  write("a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(limit("0::/a/b"), 1.5);
  EXPECT_EQ(limit("0::/c"), 8);
}

TEST_F(ControlGroups, OfAContainerLieAtTheRoot) {
  write("cpu.max", "300000 100000\n");
  EXPECT_EQ(limit("0::/outside/of/here\n"), 3);
  EXPECT_EQ(limit("0::/\n"), 3);
}

TEST_F(ControlGroups, OfVersionOneLimitByQuotaAndPeriod) {
  write("cpu,cpuacct/a/cpu.cfs_quota_us", "400000\n");
  write("cpu,cpuacct/a/cpu.cfs_period_us", "200000\n");
  EXPECT_EQ(limit("3:memory:/a\n2:cpu,cpuacct:/a\n"), 2);
  EXPECT_EQ(limit("2:cpuacct:/a\n"), kNoCpuLimit) << "another controller";
}

TEST_F(ControlGroups, OfVersionOneLieInAFolderNamedCpuToo) {
  write("cpu/a/cpu.cfs_quota_us", "50000\n");
  write("cpu/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(limit("2:cpuacct,cpu:/a\n0::/\n"), 0.5);
}

TEST_F(ControlGroups, SetNoLimitWhereNoneIsWritten) {
  EXPECT_EQ(limit("0::/a"), kNoCpuLimit);
  write("cpu/a/cpu.cfs_quota_us", "-1\n");
  write("cpu/a/cpu.cfs_period_us", "100000\n");
  write("a/cpu.max", "max 100000\n");
  EXPECT_EQ(limit("2:cpu:/a\n0::/a\n"), kNoCpuLimit);
}

TEST_F(ControlGroups, SetNoLimitByNonsense) {
  for (const char* text : {"", "100000", "a b", "100000 0", "100000 -5", "0 100000", "nan 1"}) {
    write("a/cpu.max", text);
    EXPECT_EQ(limit("0::/a"), kNoCpuLimit) << text;
  }
  for (const char* text : {"", "\n\n", ":", "::", "0:", "0::", "0::a", "0:::", "a", "2:cpu"})
    EXPECT_EQ(limit(text), kNoCpuLimit) << text;
}

TEST(UsefulThreads, AreTheLimitRoundedUpWithinTheProcessors) {
  EXPECT_EQ(useful_threads(8, kNoCpuLimit), 8u);
  EXPECT_EQ(useful_threads(8, 2.5), 3u);
  EXPECT_EQ(useful_threads(2, 2.5), 2u);
  EXPECT_EQ(useful_threads(8, 0.1), 1u);
  EXPECT_EQ(useful_threads(0, 4), 1u);
}

TEST(UsefulThreads, OfThisProcessFollowItsAffinity) {
  const std::vector<int> before = allowed_cpus();
  ASSERT_FALSE(before.empty());
  EXPECT_LE(useful_threads(), before.size());
  std::vector<int> within;
  std::size_t useful = 0;
  // In a thread of its own, whose affinity goes with it.
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(before.back(), &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
    within = allowed_cpus();
    useful = useful_threads();
  }).join();
  EXPECT_THAT(within, ElementsAre(before.back()));
  EXPECT_EQ(useful, 1u);
}

}  // namespace
}  // namespace fuselage
