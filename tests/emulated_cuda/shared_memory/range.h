#pragma once

namespace emulated_cuda {

// The linker keeps the thread-local variables of object files in the order of these. A program has
// shared_memory/begin.cpp before its kernels' files and shared_memory/end.cpp behind them, so that
// all that they declare as __shared__ lies between.

unsigned char* begin_of_static_shared_memory();
unsigned char* end_of_static_shared_memory();

}  // namespace emulated_cuda
