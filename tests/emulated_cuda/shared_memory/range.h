#pragma once

namespace emulated_cuda {

// The linker keeps thread-local variables in the order of object files. A program links
// shared_memory/begin.cpp before its kernels and shared_memory/end.cpp after them, so that all
// __shared__ variables are between the two.

unsigned char* begin_of_static_shared_memory();
unsigned char* end_of_static_shared_memory();

}  // namespace emulated_cuda
