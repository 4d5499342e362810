#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace fuselage {

/// Writes the float32 product of the rows x by a matrix to y; x and y are contiguous.
using PeerProduct = std::function<void(const float* x, std::size_t rows, float* y)>;
using MakePeerProduct = PeerProduct (*)(const float* w, std::size_t k, std::size_t n);

// Products of rows by w, [k, n], on one thread, by libraries; a build may lack some of them. They
// refer to w, which must outlive them. One thread at a time may run them.
PeerProduct eigen_product(const float* w, std::size_t k, std::size_t n);
/// A matrix-vector product for each row.
PeerProduct eigen_vector_product(const float* w, std::size_t k, std::size_t n);
PeerProduct openblas_product(const float* w, std::size_t k, std::size_t n);
PeerProduct onednn_product(const float* w, std::size_t k, std::size_t n);

/// The same for 8-bit integers, with exact sums in 32 bits.
using PeerIntProduct = std::function<void(const std::int8_t* x, std::size_t rows, std::int32_t* y)>;
using MakePeerIntProduct = PeerIntProduct (*)(const std::int8_t* w, std::size_t k, std::size_t n);
PeerIntProduct onednn_int8_product(const std::int8_t* w, std::size_t k, std::size_t n);

/// Converts such sums, [rows, n], to floats: each times its row's and its column's scale, plus
/// bias.
void eigen_dequantize(const std::int32_t* sums, std::size_t rows, std::size_t n,
                      const float* row_scales, const float* column_scales, const float* bias,
                      float* y);

}  // namespace fuselage
