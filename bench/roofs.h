#pragma once

#include <cstddef>

namespace fuselage {

/// What one core of this machine does at most; 0 where that cannot be measured, which takes AVX-512
/// and for integers its VNNI. Each keeps to registers.
struct Peaks {
  double f32 = 0, i16 = 0, i8 = 0;  ///< multiply-adds a second
};

Peaks measured_peaks();

/// The same, or where they cannot be measured what our own products of floats reach, for all types.
Peaks peaks_or_products();

/// Bytes a second of reading a buffer of `bytes` again and again; 0 as above.
double read_bandwidth(std::size_t bytes);

}  // namespace fuselage
