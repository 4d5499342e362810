#pragma once

#include <cstdint>
#include <span>

#include "fuselage/backends/plan/plan.h"

namespace fuselage {

/// A buffer that carries a value to the next iteration, and the instruction of its state.
struct CarriedBuffer {
  std::uint32_t buffer = 0;
  std::uint32_t state = 0;  ///< index of the instruction
};

/// Computes live ranges: sets `first` and `last` of all buffers. The plan's instructions, loops and
/// outputs must be complete.
void find_lifetimes(ProgramPlan& plan, std::span<const CarriedBuffer> carried);

}  // namespace fuselage
