#pragma once

#include <string>
#include <vector>

#include "backends/cpu/runtime/kernel.h"
#include "bench/peer_products.h"

namespace fuselage {

/// A library that multiplies floats, and its products as a kernel for plans: that of a stored
/// matrix and vectors, which are copied where they do not lie one after the other.
struct PeerLibrary {
  std::string name;
  MakePeerProduct make;
  cpu::KernelEntry kernel;
};

/// Those that this build has.
const std::vector<PeerLibrary>& peer_libraries();

/// Eigen's products of a matrix and a vector, row by row.
const PeerLibrary& vectors_by_eigen();

}  // namespace fuselage
