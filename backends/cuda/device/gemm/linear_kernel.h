#pragma once

#include <memory>

#include "backends/cuda/device/kernel/kernel.h"

namespace fuselage::cuda {

/// A kernel for `linear`: a product with a stored matrix and an expression on it. An expression
/// that adds a vector without rows, or takes ReLU, or both goes with the product itself.
std::unique_ptr<Kernel> make_linear(const PlannedInstruction& in, const Binding& binding);

}  // namespace fuselage::cuda
