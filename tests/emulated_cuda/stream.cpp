#include "stream.h"

#include <chrono>
#include <utility>

#include "device_memory.h"

namespace emulated_cuda {
namespace {

// Streams of this thread that capture in a mode that forbids some calls, and the last of them.
thread_local int captures = 0;
thread_local cudaStream_t capturing = nullptr;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

cudaError_t perform(cudaStream_t stream, std::function<void()> operation) {
  if (!stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread) {
    if (captures > 0) return report(cudaErrorStreamCaptureImplicit);
  } else if (stream->capture) {
    stream->capture->operations.push_back(std::move(operation));
    return cudaSuccess;
  }
  operation();
  return cudaSuccess;
}

cudaError_t refuse_in_capture() {
  if (captures == 0) return cudaSuccess;
  capturing->broken = true;
  return report(cudaErrorStreamCaptureUnsupported);
}

}  // namespace emulated_cuda

using emulated_cuda::perform;
using emulated_cuda::report;

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = new CUstream_st;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return cudaStreamCreate(stream);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  return cudaStreamCreate(stream);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (stream && stream->capture) {
    stream->broken = true;
    return report(cudaErrorStreamCaptureUnsupported);
  }
  emulated_cuda::device_memory().check();
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  if (const cudaError_t refused = emulated_cuda::refuse_in_capture()) return refused;
  return cudaStreamSynchronize(nullptr);
}
cudaError_t cudaStreamQuery(cudaStream_t stream) { return cudaStreamSynchronize(stream); }

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (event->capture && stream && !stream->capture) stream->capture = event->capture;
  return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return perform(stream, [=] { function(data); });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (!stream || stream->capture) return report(cudaErrorIllegalState);
  stream->capture = new CUgraph_st;
  stream->captures_first = true;
  stream->broken = false;
  if (mode == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  ++emulated_cuda::captures;
  emulated_cuda::capturing = stream;
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = stream && stream->capture ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  if (!stream->capture || !stream->captures_first) return report(cudaErrorIllegalState);
  if (emulated_cuda::capturing == stream) {
    --emulated_cuda::captures;
    emulated_cuda::capturing = nullptr;
  }
  *graph = std::exchange(stream->capture, nullptr);
  stream->captures_first = false;
  if (!stream->broken) return cudaSuccess;
  delete std::exchange(*graph, nullptr);
  return report(cudaErrorStreamCaptureInvalidated);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  *exec = new CUgraphExec_st{graph->operations};
  return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return perform(stream, [exec] {
    for (const std::function<void()>& operation : exec->operations) operation();
  });
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  if (nodes) return report(cudaErrorNotSupported);
  *count = graph->operations.size();
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  delete exec;
  return cudaSuccess;
}

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
  event->capture = stream ? stream->capture : nullptr;
  event->recorded = !event->capture;
  event->seconds = emulated_cuda::now();
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return event->capture ? report(cudaErrorCapturedEvent) : cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (!start->recorded || !end->recorded) return report(cudaErrorInvalidResourceHandle);
  *milliseconds = static_cast<float>((end->seconds - start->seconds) * 1e3);
  return cudaSuccess;
}

}  // extern "C"
