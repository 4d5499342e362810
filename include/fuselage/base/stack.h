#pragma once

#include <cstddef>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// The stack that a thread needs when it calls the library, in bytes. The largest frames, those of
/// kernels, have 130 KiB.
inline constexpr std::size_t kMinStackBytes = std::size_t{256} << 10;

/// Throws Error if less than kMinStackBytes of the calling thread's stack are left: an overflow
/// would end the process without a message. Functions that load, compile, translate, score,
/// continue and run graphs begin with it. Does nothing on a stack that is not the thread's own, as
/// that of a fiber, whose size the system does not know.
void expect_stack();

}  // namespace fuselage
