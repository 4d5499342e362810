#include "backends/cuda/device/runtime/graph_cache.h"

#include "backends/cuda/device/runtime/launch.h"
#include "backends/cuda/device/runtime/memory.h"
#include "device_array.h"
#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

class GraphCacheTest : public CudaTest {
 protected:
  /// Work that sets `data` to a byte: the number of times that it was enqueued.
  std::function<void()> work(int byte) {
    return [this, byte] {
      ++enqueued_;
      expect_success(cudaMemsetAsync(array_.data(), byte, array_.size_bytes(), work_.get()),
                     "setting memory");
    };
  }
  int now() {
    work_.synchronize();
    return array_.to_host()[0];
  }

  Stream work_;
  DeviceArray<unsigned char> array_{3, 0};
  int enqueued_ = 0;
};

TEST_F(GraphCacheTest, CapturesWhatRunsForTheSecondTime) {
  GraphCache graphs(4);
  EXPECT_FALSE(graphs.knows(7));
  graphs.run(work_, 7, work(7));
  EXPECT_TRUE(graphs.knows(7));
  EXPECT_EQ(now(), 7);
  EXPECT_EQ(graphs.captures(), 0u);
  graphs.run(work_, 9, work(9));
  graphs.run(work_, 7, work(7));
  EXPECT_EQ(now(), 7);
  EXPECT_EQ(graphs.captures(), 1u);
  EXPECT_EQ(enqueued_, 3);
  graphs.run(work_, 9, work(9));
  graphs.run(work_, 7, work(1));  // the captured work runs
  EXPECT_EQ(now(), 7);
  EXPECT_EQ(enqueued_, 4);
}

TEST_F(GraphCacheTest, ForgetsWhatHasNotRunForLongest) {
  GraphCache graphs(2);
  for (const int key : {1, 2, 1, 3}) graphs.run(work_, key, work(key));
  EXPECT_EQ(graphs.size(), 2u);
  EXPECT_TRUE(graphs.knows(1));
  EXPECT_FALSE(graphs.knows(2));
  graphs.clear();
  EXPECT_EQ(graphs.size(), 0u);
}

TEST_F(GraphCacheTest, AStreamSurvivesWhatFailsInACapture) {
  GraphCache graphs(2);
  graphs.run(work_, 1, work(1));
  EXPECT_THROW(graphs.run(work_, 1, [] { throw Error("no"); }), Error);
  // No capture allows allocations.
  EXPECT_THROW(graphs.run(work_, 1, [] { DeviceMemory(16, {"a test", "nothing"}); }), Error);
  graphs.run(work_, 1, work(5));
  EXPECT_EQ(now(), 5);
}

}  // namespace
}  // namespace fuselage::cuda
