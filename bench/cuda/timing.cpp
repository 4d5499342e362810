#include "bench/cuda/timing.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>

#include "backends/cuda/device/runtime/launch.h"

namespace fuselage::cuda {
namespace {

struct DestroyEvent {
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
using TimingEvent = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, DestroyEvent>;

TimingEvent timing_event() {
  cudaEvent_t event = nullptr;
  expect_success(cudaEventCreate(&event), "an event");
  return TimingEvent(event);
}

CapturedWork captured(const Stream& stream, const std::function<void(cudaStream_t)>& enqueue) {
  enqueue(stream.get());
  stream.synchronize();
  return {stream, [&] { enqueue(stream.get()); }};
}

}  // namespace

Replay::Replay(const Stream& stream, const std::function<void(cudaStream_t)>& enqueue)
    : stream_(stream), work_(captured(stream, enqueue)) {}

double Replay::seconds(int count) const {
  const TimingEvent begin = timing_event();
  const TimingEvent end = timing_event();
  expect_success(cudaEventRecord(begin.get(), stream_.get()), "an event");
  for (int i = 0; i < count; ++i) work_.launch(stream_);
  expect_success(cudaEventRecord(end.get(), stream_.get()), "an event");
  expect_success(cudaEventSynchronize(end.get()), "work on the device");
  float milliseconds = 0;
  expect_success(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "a time");
  return 1e-3 * static_cast<double>(milliseconds) / count;
}

int Replay::enough() const {
  constexpr double kSeconds = 3e-3;
  const double one = std::max(seconds(3), 1e-6);
  return std::clamp(static_cast<int>(std::ceil(kSeconds / one)), 1, 1000);
}

Quartiles quartiles(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values[values.size() / 4], values[values.size() / 2], values[values.size() * 3 / 4]};
}

DeviceComparison compare(const Replay& baseline, const Replay& candidate, int rounds) {
  const int of_baseline = baseline.enough();
  const int of_candidate = candidate.enough();
  std::vector<double> slow, fast, ratios;
  for (int round = 0; round < rounds; ++round) {
    const double first = baseline.seconds(of_baseline);
    const double second = candidate.seconds(of_candidate);
    const double third = candidate.seconds(of_candidate);
    const double fourth = baseline.seconds(of_baseline);
    slow.insert(slow.end(), {first, fourth});
    fast.insert(fast.end(), {second, third});
    ratios.push_back((first + fourth) / (second + third));
  }
  return {quartiles(slow), quartiles(fast), quartiles(ratios)};
}

}  // namespace fuselage::cuda
