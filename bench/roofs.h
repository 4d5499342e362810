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

/// Reads `bytes` bytes, aligned to 64, in a plain loop of wide loads. Takes AVX-512.
void read_once(const std::byte* data, std::size_t bytes);

/// Bytes a second of reading these bytes again and again; 0 as above.
double read_bandwidth(const std::byte* data, std::size_t bytes);
/// The same of a buffer of as many bytes.
double read_bandwidth(std::size_t bytes);

}  // namespace fuselage
