#pragma once

#include <cstdint>
#include <span>

#include "backends/plan/plan.h"

namespace fuselage {

/// A buffer that keeps a value from one iteration to the next, for the state that an instruction
/// reads.
struct CarriedBuffer {
  std::uint32_t buffer = 0;
  std::uint32_t state = 0;  ///< number of the instruction
};

/// Sets `first` and `last` of all buffers of a plan whose instructions, loops and outputs are
/// complete.
void find_lifetimes(ProgramPlan& plan, std::span<const CarriedBuffer> carried);

}  // namespace fuselage
