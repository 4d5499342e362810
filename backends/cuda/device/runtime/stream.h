#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <memory>
#include <type_traits>

namespace fuselage::cuda {

/// A queue of work for the current device, which knows no order to other streams.
class Stream {
 public:
  Stream();

  cudaStream_t get() const { return stream_.get(); }
  /// Waits until all is done that was put in.
  void synchronize() const;

 private:
  struct Destroy {
    void operator()(cudaStream_t stream) const;
  };
  std::unique_ptr<std::remove_pointer_t<cudaStream_t>, Destroy> stream_;
};

/// A mark in a stream that the host can wait for.
class Event {
 public:
  Event();

  /// Sets the mark behind what the stream holds now.
  void record(const Stream& stream);
  /// Waits until the stream has come to the mark that was set last, if there is one.
  void wait() const;

 private:
  struct Destroy {
    void operator()(cudaEvent_t event) const;
  };
  std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Destroy> event_;
};

/// Work of a stream, recorded once, to be put into it as a whole again and again.
class CapturedWork {
 public:
  /// Records what `enqueue` puts into the stream, which does not run by that.
  CapturedWork(const Stream& stream, const std::function<void()>& enqueue);

  void launch(const Stream& stream) const;

 private:
  struct Destroy {
    void operator()(cudaGraphExec_t work) const;
  };
  std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, Destroy> work_;
};

}  // namespace fuselage::cuda
