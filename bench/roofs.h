#pragma once

#include <cstddef>

namespace fuselage {

/// Peak rates of one core of this machine with the instructions of the active instruction-set
/// level, measured in registers: without VNNI, shorts are multiplied in pairs and the sums added,
/// and bytes with 7 operations for two vectors of products. 0 if not measurable: that needs AVX2.
struct Peaks {
  double f32 = 0, i16 = 0, i8 = 0;  ///< multiply-adds per second
};

Peaks measured_peaks();

/// The same, or if they cannot be measured, the rate of our own products of floats for all types.
Peaks peaks_or_products();

/// Reads `bytes` bytes, aligned to 64, in a plain loop of the widest loads. Needs AVX2.
void read_once(const std::byte* data, std::size_t bytes);

/// Bytes per second of repeated reading of these bytes; 0 if not measurable.
double read_bandwidth(const std::byte* data, std::size_t bytes);
/// The same for a new buffer of `bytes` bytes.
double read_bandwidth(std::size_t bytes);

}  // namespace fuselage
