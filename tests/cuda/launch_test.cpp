#include <gmock/gmock.h>

#include <numeric>
#include <vector>

#include "tests/cuda/device_array.h"
#include "tests/cuda/launch_kernels.h"

namespace fuselage::cuda::launch_test {
namespace {

using ::testing::Each;

using LaunchTest = CudaTest;

std::vector<float> counted(std::size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

TEST_F(LaunchTest, BarrierSeparatesWritesFromReads) {
  for (const std::uint32_t threads : {1u, 31u, 33u, 256u, 1024u}) {
    const std::vector<float> in = counted(1030);
    DeviceArray<float> from(in), to(in.size());
    launch_reverse(stream(), from.data(), to.data(), 1030, threads);
    EXPECT_EQ(to.to_host(), std::vector<float>(in.rbegin(), in.rend())) << threads;
  }
}

TEST_F(LaunchTest, SharedMemoryOfAnySizeThatABlockCanHave) {
  for (const std::int32_t n : {20000, 58000, 15000, 58112, 1}) {
    const std::vector<float> in = counted(static_cast<std::size_t>(n));
    DeviceArray<float> from(in), to(in.size());
    launch_reverse(stream(), from.data(), to.data(), n, 256);
    EXPECT_EQ(to.to_host(), std::vector<float>(in.rbegin(), in.rend())) << n;
  }
}

TEST_F(LaunchTest, ShufflesReduceRows) {
  const std::vector<float> in = counted(std::size_t{7} * 300);
  DeviceArray<float> from(in), to(7);
  launch_row_sums(stream(), from.data(), to.data(), 7, 300);
  std::vector<float> sums;
  for (auto row = in.begin(); row != in.end(); row += 300)
    sums.push_back(std::accumulate(row, row + 300, 0.0f));
  EXPECT_EQ(to.to_host(), sums);
}

TEST_F(LaunchTest, EachThreadOfEachBlockRunsOnce) {
  DeviceArray<std::int32_t> out(std::size_t{2 * 3 * 5} * (7 * 2 * 3), -1);
  launch_numbers(stream(), out.data(), {2, 3, 5}, {7, 2, 3});
  const std::vector<std::int32_t> numbers = out.to_host();
  for (std::int32_t i = 0; i < std::ssize(numbers); ++i)
    EXPECT_EQ(numbers[i], i % 42 + 1000 * (i / 42));
}

TEST_F(LaunchTest, GridWithoutBlocksDoesNothing) {
  DeviceArray<std::int32_t> out(1, -1);
  launch_numbers(stream(), out.data(), {0, 1, 1}, {32, 1, 1});
  EXPECT_THAT(out.to_host(), Each(-1));
}

TEST_F(LaunchTest, ReportsWhatCannotBeLaunched) {
  DeviceArray<std::int32_t> out(1, -1);
  EXPECT_ANY_THROW(launch_numbers(stream(), out.data(), {1, 1, 1}, {1025, 1, 1}));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  DeviceArray<float> none(1);
  EXPECT_ANY_THROW(launch_reverse(stream(), none.data(), none.data(), 58113, 256));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

}  // namespace
}  // namespace fuselage::cuda::launch_test
