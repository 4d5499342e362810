#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace emulated_cuda {

using Operation = std::function<void()>;

}  // namespace emulated_cuda

/// A graph: operations with their arguments by value.
struct CUgraph_st {
  std::vector<emulated_cuda::Operation> operations;
};
struct CUgraphExec_st {
  std::shared_ptr<const std::vector<emulated_cuda::Operation>> operations;
};

/// A stream executes operations in order, but late: when a caller waits, or at random.
struct CUstream_st {
  int device = 0;
  bool non_blocking = false;  ///< the default stream does not wait for it
  std::deque<emulated_cuda::Operation> pending;
  std::uint64_t given = 0, done = 0;  ///< numbers of operations
  CUgraph_st* capture = nullptr;      ///< the graph that takes the operations
  bool captures_first = false;        ///< origin of a capture that other streams may have joined
  bool broken = false;                ///< the capture had a forbidden operation
};

namespace emulated_cuda {

bool is_default(cudaStream_t stream);

/// The current device of this thread.
int device_of_thread();

/// The error of a launch into a stream of another device than the current one; else success.
cudaError_t refuse_other_device(cudaStream_t stream);

/// Counts a launch for launches().
void count_launch();

/// Enqueues the operation, or adds it to the stream's capture. The default stream executes it at
/// once.
cudaError_t perform(cudaStream_t stream, Operation operation);

/// Executes the stream's operations up to this number, or all.
void finish(cudaStream_t stream, std::uint64_t number);
void finish(cudaStream_t stream);

/// Executes all operations of all streams.
void finish_all();

/// Executes a few of the stream's operations: time passes while a caller polls.
void let_time_pass(cudaStream_t stream);

void add_stream(cudaStream_t stream);
void remove_stream(cudaStream_t stream);

/// Begin and end of a capture that forbids some calls to this thread.
void enter_capture(cudaStream_t stream);
void leave_capture(cudaStream_t stream);

/// The error of a call that is forbidden during a capture; success without a capture.
cudaError_t refuse_in_capture();

/// Stores the error for cudaGetLastError() and returns it.
cudaError_t report(cudaError_t error);

}  // namespace emulated_cuda
