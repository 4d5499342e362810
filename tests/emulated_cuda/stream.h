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

/// What a graph holds: operations with their pointers and numbers by value.
struct CUgraph_st {
  std::vector<emulated_cuda::Operation> operations;
};
struct CUgraphExec_st {
  std::shared_ptr<const std::vector<emulated_cuda::Operation>> operations;
};

/// A stream does what it was given in order, but late: when someone waits for it, or by chance.
struct CUstream_st {
  bool non_blocking = false;  ///< the default stream does not wait for it
  std::deque<emulated_cuda::Operation> pending;
  std::uint64_t given = 0, done = 0;  ///< operations
  CUgraph_st* capture = nullptr;      ///< the graph that takes the operations
  bool captures_first = false;        ///< it began the capture that other streams may have joined
  bool broken = false;                ///< the capture saw an operation that none allows
};

namespace emulated_cuda {

bool is_default(cudaStream_t stream);

/// Puts the operation at the end of the stream, or adds it to what the stream captures. The default
/// stream does it at once.
cudaError_t perform(cudaStream_t stream, Operation operation);

/// Does all that the stream was given up to this number, or everything.
void finish(cudaStream_t stream, std::uint64_t number);
void finish(cudaStream_t stream);

/// Does all that all streams were given.
void finish_all();

/// Does a few of the stream's operations: time that passes while someone polls.
void let_time_pass(cudaStream_t stream);

void add_stream(cudaStream_t stream);
void remove_stream(cudaStream_t stream);

/// Marks the beginning and the end of a capture in which this thread must not make some calls.
void enter_capture(cudaStream_t stream);
void leave_capture(cudaStream_t stream);

/// For calls that no thread may make while it captures: what they return then, else success.
cudaError_t refuse_in_capture();

/// Notes the error for cudaGetLastError and returns it.
cudaError_t report(cudaError_t error);

}  // namespace emulated_cuda
