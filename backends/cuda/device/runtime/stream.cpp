#include "backends/cuda/device/runtime/stream.h"

#include "backends/cuda/device/runtime/launch.h"

namespace fuselage::cuda {
namespace {

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const { static_cast<void>(cudaGraphDestroy(graph)); }
};
using CapturedGraph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, DestroyGraph>;

CapturedGraph end_capture(const Stream& stream, cudaError_t& status) {
  cudaGraph_t graph = nullptr;
  status = cudaStreamEndCapture(stream.get(), &graph);
  return CapturedGraph(graph);
}

/// Captures in thread-local mode, so that other threads can allocate meanwhile.
CapturedGraph capture(const Stream& stream, const std::function<void()>& enqueue) {
  expect_success(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal),
                 "start of a stream capture");
  cudaError_t status = cudaSuccess;
  try {
    enqueue();
  } catch (...) {
    end_capture(stream, status);
    static_cast<void>(cudaGetLastError());
    throw;
  }
  CapturedGraph graph = end_capture(stream, status);
  expect_success(status, "stream capture");
  return graph;
}

}  // namespace

Stream::Stream() {
  cudaStream_t stream = nullptr;
  expect_success(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creation of a stream");
  stream_.reset(stream);
}

void Stream::synchronize() const {
  expect_success(cudaStreamSynchronize(stream_.get()), "work on the device");
}

void Stream::wait(const Event& event) const {
  expect_success(cudaStreamWaitEvent(stream_.get(), event.get(), 0), "wait for another stream");
}

void Stream::Destroy::operator()(cudaStream_t stream) const {
  static_cast<void>(cudaStreamSynchronize(stream));
  static_cast<void>(cudaStreamDestroy(stream));
}

Event::Event() {
  cudaEvent_t event = nullptr;
  expect_success(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "creation of an event");
  event_.reset(event);
}

void Event::record(const Stream& stream) {
  expect_success(cudaEventRecord(event_.get(), stream.get()), "recording of an event");
}

void Event::wait() const {
  expect_success(cudaEventSynchronize(event_.get()), "work on the device");
}

void Event::Destroy::operator()(cudaEvent_t event) const {
  static_cast<void>(cudaEventDestroy(event));
}

CapturedWork::CapturedWork(const Stream& stream, const std::function<void()>& enqueue) {
  const CapturedGraph graph = capture(stream, enqueue);
  cudaGraphExec_t work = nullptr;
  expect_success(cudaGraphInstantiate(&work, graph.get(), 0), "instantiation of a captured graph");
  work_.reset(work);
}

void CapturedWork::launch(const Stream& stream) const {
  expect_success(cudaGraphLaunch(work_.get(), stream.get()), "launch of a captured graph");
}

void CapturedWork::Destroy::operator()(cudaGraphExec_t work) const {
  static_cast<void>(cudaGraphExecDestroy(work));
}

}  // namespace fuselage::cuda
