// The runtime's functions for streams, captures and graphs.
#include <cuda_runtime_api.h>

#include <memory>
#include <utility>

#include "device_memory.h"
#include "stream.h"

using emulated_cuda::is_default;
using emulated_cuda::Operation;
using emulated_cuda::perform;
using emulated_cuda::report;

namespace {

bool captures(cudaStream_t stream) { return !is_default(stream) && stream->capture; }

cudaError_t refuse(cudaStream_t capturing) {
  capturing->broken = true;
  return report(cudaErrorStreamCaptureUnsupported);
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  *stream = new CUstream_st;
  (*stream)->device = emulated_cuda::device_of_thread();
  (*stream)->non_blocking = (flags & cudaStreamNonBlocking) != 0;
  emulated_cuda::add_stream(*stream);
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  emulated_cuda::remove_stream(stream);
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (captures(stream)) return refuse(stream);
  emulated_cuda::finish(stream);
  emulated_cuda::device_memory().check();
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  if (const cudaError_t refused = emulated_cuda::refuse_in_capture()) return refused;
  emulated_cuda::finish_all();
  emulated_cuda::device_memory().check();
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (captures(stream)) return refuse(stream);
  emulated_cuda::let_time_pass(stream);
  return is_default(stream) || stream->pending.empty() ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return perform(stream, [=] { function(data); });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (is_default(stream)) return report(cudaErrorStreamCaptureUnsupported);
  if (stream->capture) return report(cudaErrorIllegalState);
  stream->capture = new CUgraph_st;
  stream->captures_first = true;
  stream->broken = false;
  if (mode != cudaStreamCaptureModeRelaxed) emulated_cuda::enter_capture(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = captures(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  if (!captures(stream) || !stream->captures_first) return report(cudaErrorIllegalState);
  emulated_cuda::leave_capture(stream);
  *graph = std::exchange(stream->capture, nullptr);
  stream->captures_first = false;
  if (!stream->broken) return cudaSuccess;
  delete std::exchange(*graph, nullptr);
  return report(cudaErrorStreamCaptureInvalidated);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  *exec = new CUgraphExec_st{std::make_shared<std::vector<Operation>>(graph->operations)};
  return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  if (const cudaError_t refused = emulated_cuda::refuse_other_device(stream)) return refused;
  return perform(stream, [operations = exec->operations] {
    for (const Operation& operation : *operations) operation();
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

}  // extern "C"
