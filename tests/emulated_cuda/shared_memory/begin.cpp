#include "tests/emulated_cuda/shared_memory/range.h"

namespace emulated_cuda {

static thread_local unsigned char mark;

unsigned char* begin_of_static_shared_memory() { return &mark; }

}  // namespace emulated_cuda
