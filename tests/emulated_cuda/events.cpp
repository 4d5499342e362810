// The runtime's functions about events.
#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "stream.h"

using emulated_cuda::perform;
using emulated_cuda::report;

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A recording of an event. The stream outlives it.
struct Recording {
  cudaStream_t stream = nullptr;
  std::uint64_t number = 0;  ///< number of the operation in the stream
  std::atomic<bool> done = false;
  double seconds = 0;
};

void finish(const Recording& recording) {
  if (!recording.done) emulated_cuda::finish(recording.stream, recording.number);
}

}  // namespace

struct CUevent_st {
  CUgraph_st* capture = nullptr;  ///< set when recorded in a capture
  std::shared_ptr<Recording> last;
};

extern "C" {

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return cudaEventCreate(event);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const bool on_default = emulated_cuda::is_default(stream);
  event->capture = on_default ? nullptr : stream->capture;
  if (event->capture) return cudaSuccess;
  auto recording = std::make_shared<Recording>();
  recording->stream = stream;
  if (!on_default) recording->number = stream->given + 1;
  event->last = recording;
  return perform(stream, [recording] {
    recording->seconds = now();
    recording->done = true;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (event->capture) {
    if (emulated_cuda::is_default(stream)) return report(cudaErrorStreamCaptureImplicit);
    if (!stream->capture) stream->capture = event->capture;
    return cudaSuccess;
  }
  if (!event->last) return cudaSuccess;
  return perform(stream, [recording = event->last] { finish(*recording); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (event->capture) return report(cudaErrorCapturedEvent);
  if (event->last) finish(*event->last);
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (event->capture) return report(cudaErrorCapturedEvent);
  if (!event->last || event->last->done) return cudaSuccess;
  emulated_cuda::let_time_pass(event->last->stream);
  return event->last->done ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (!start->last || !end->last) return report(cudaErrorInvalidResourceHandle);
  if (!start->last->done || !end->last->done) return cudaErrorNotReady;
  *milliseconds = static_cast<float>((end->last->seconds - start->last->seconds) * 1e3);
  return cudaSuccess;
}

}  // extern "C"
