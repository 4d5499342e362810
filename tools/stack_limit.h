#pragma once

namespace fuselage {

/// Minimum stack of a thread, in KiB. The largest frames, blocks of kernels, have 130 KiB.
inline constexpr unsigned long kMinStackKib = 1024;

/// Throws Error if the system limits the stack of this process and its threads to less than
/// kMinStackKib. (A stack overflow ends the process without a message.)
void check_stack_limit();

}  // namespace fuselage
