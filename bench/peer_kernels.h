#pragma once

#include <string>
#include <vector>

#include "bench/peer_products.h"
#include "fuselage/backends/cpu/runtime/kernel.h"

namespace fuselage {

/// A library that multiplies floats, and a kernel for plans with its products of rows by a stored
/// matrix. Rows that are not contiguous are copied.
struct PeerLibrary {
  std::string name;
  MakePeerProduct make;
  cpu::KernelEntry kernel;
};

/// The libraries of this build.
const std::vector<PeerLibrary>& peer_libraries();

/// Eigen's products of a matrix and a vector, row by row.
const PeerLibrary& vectors_by_eigen();

}  // namespace fuselage
