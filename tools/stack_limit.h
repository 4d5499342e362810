#pragma once

namespace fuselage {

/// Least stack of a thread, in KiB. The largest frames are blocks of kernels, of 130 KiB.
inline constexpr unsigned long kMinStackKib = 1024;

/// Throws Error where the system limits the stack of this process and its threads to less than
/// kMinStackKib. A thread that leaves its stack ends the process without a message.
void check_stack_limit();

}  // namespace fuselage
