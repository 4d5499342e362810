#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <memory>
#include <type_traits>

namespace fuselage::cuda {

class Event;

/// A stream of the current device that does not synchronize with the default stream.
class Stream {
 public:
  Stream();

  cudaStream_t get() const { return stream_.get(); }
  /// Waits until the stream is idle.
  void synchronize() const;
  /// Has later work of this stream wait for the last recorded event; for nothing if none was.
  void wait(const Event& event) const;

 private:
  struct Destroy {
    void operator()(cudaStream_t stream) const;
  };
  std::unique_ptr<std::remove_pointer_t<cudaStream_t>, Destroy> stream_;
};

/// A point in a stream that the host and other streams can wait for.
class Event {
 public:
  Event();

  cudaEvent_t get() const { return event_.get(); }

  /// Records the event after all work that is in the stream now.
  void record(const Stream& stream);
  /// Waits for the last recorded event. Returns at once if none was recorded.
  void wait() const;

 private:
  struct Destroy {
    void operator()(cudaEvent_t event) const;
  };
  std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Destroy> event_;
};

/// A CUDA graph of captured work.
class CapturedWork {
 public:
  /// Captures the work that `enqueue` puts into the stream. The work does not run.
  CapturedWork(const Stream& stream, const std::function<void()>& enqueue);

  void launch(const Stream& stream) const;

 private:
  struct Destroy {
    void operator()(cudaGraphExec_t work) const;
  };
  std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, Destroy> work_;
};

}  // namespace fuselage::cuda
