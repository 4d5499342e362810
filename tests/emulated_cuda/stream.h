#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <vector>

using Operations = std::vector<std::function<void()>>;

/// A stream does what it is given at once, unless it captures.
struct CUstream_st {
  CUgraph_st* capture = nullptr;  ///< the graph that takes the operations
  bool captures_first = false;    ///< it began the capture that other streams may have joined
  bool broken = false;            ///< the capture saw an operation that none allows
};

struct CUevent_st {
  CUgraph_st* capture = nullptr;  ///< set when recorded in a capture
  bool recorded = false;
  double seconds = 0;
};

struct CUgraph_st {
  Operations operations;
};

struct CUgraphExec_st {
  Operations operations;
};

namespace emulated_cuda {

/// Does the operation at the end of the stream, or adds it to what the stream captures.
cudaError_t perform(cudaStream_t stream, std::function<void()> operation);

/// For calls that no thread may make while it captures: what they return then, else success.
cudaError_t refuse_in_capture();

/// Notes the error for cudaGetLastError and returns it.
cudaError_t report(cudaError_t error);

}  // namespace emulated_cuda
