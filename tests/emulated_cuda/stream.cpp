#include "stream.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <random>
#include <set>
#include <utility>

#include "device_memory.h"
#include "emulated_cuda/control.h"

namespace emulated_cuda {
namespace {

// One device for all host threads, which executes one operation at a time.
std::recursive_mutex device;
std::set<cudaStream_t> streams;

std::atomic<std::int64_t> launch_count{0};

// Streams with captures that forbid some calls to this thread.
thread_local std::vector<cudaStream_t> captures;

std::uint64_t draw(std::uint64_t below) {
  static std::mt19937_64 random(seed());
  return random() % below;
}

void run(const Operation& operation) {
  const DeviceAccess access;
  operation();
}

}  // namespace

bool is_default(cudaStream_t stream) {
  return !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

void count_launch() { ++launch_count; }
std::int64_t launches() { return launch_count; }

cudaError_t refuse_other_device(cudaStream_t stream) {
  const bool is_other = !is_default(stream) && stream->device != device_of_thread();
  return is_other ? report(cudaErrorInvalidResourceHandle) : cudaSuccess;
}

cudaError_t perform(cudaStream_t stream, Operation operation) {
  if (!is_default(stream) && stream->capture) {
    stream->capture->operations.push_back(std::move(operation));
    return cudaSuccess;
  }
  const std::lock_guard lock(device);
  if (is_default(stream)) {
    if (!captures.empty()) return report(cudaErrorStreamCaptureImplicit);
    for (const cudaStream_t other : streams)
      if (!other->non_blocking) finish(other);
    run(operation);
    return cudaSuccess;
  }
  stream->pending.push_back(std::move(operation));
  ++stream->given;
  if (draw(4) == 0) finish(stream);
  return cudaSuccess;
}

void finish(cudaStream_t stream, std::uint64_t number) {
  const std::lock_guard lock(device);
  while (stream->done < number && !stream->pending.empty()) {
    const Operation operation = std::move(stream->pending.front());
    stream->pending.pop_front();
    run(operation);
    ++stream->done;
  }
}

void finish(cudaStream_t stream) {
  const std::lock_guard lock(device);
  if (!is_default(stream)) finish(stream, stream->given);
}

void finish_all() {
  const std::lock_guard lock(device);
  for (const cudaStream_t stream : streams) finish(stream);
}

void let_time_pass(cudaStream_t stream) {
  const std::lock_guard lock(device);
  if (!is_default(stream)) finish(stream, stream->done + draw(4));
}

void add_stream(cudaStream_t stream) {
  const std::lock_guard lock(device);
  streams.insert(stream);
}

void remove_stream(cudaStream_t stream) {
  const std::lock_guard lock(device);
  finish(stream);
  streams.erase(stream);
}

void enter_capture(cudaStream_t stream) { captures.push_back(stream); }
void leave_capture(cudaStream_t stream) { std::erase(captures, stream); }

cudaError_t refuse_in_capture() {
  if (captures.empty()) return cudaSuccess;
  for (const cudaStream_t stream : captures) stream->broken = true;
  return report(cudaErrorStreamCaptureUnsupported);
}

}  // namespace emulated_cuda
