#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace fuselage {

/// Writes the float32 product of some rows x and a matrix to y, both without gaps.
using PeerProduct = std::function<void(const float* x, std::size_t rows, float* y)>;
using MakePeerProduct = PeerProduct (*)(const float* w, std::size_t k, std::size_t n);

// Products of rows by w, [k, n], on one thread, by libraries of which a build may lack some. They
// keep w, which must stay. One thread at a time runs them.
PeerProduct eigen_product(const float* w, std::size_t k, std::size_t n);
/// A product of a matrix and a vector for each row.
PeerProduct eigen_vector_product(const float* w, std::size_t k, std::size_t n);
PeerProduct openblas_product(const float* w, std::size_t k, std::size_t n);
PeerProduct onednn_product(const float* w, std::size_t k, std::size_t n);

/// The same of 8-bit integers, exact in 32 bits.
using PeerIntProduct = std::function<void(const std::int8_t* x, std::size_t rows, std::int32_t* y)>;
using MakePeerIntProduct = PeerIntProduct (*)(const std::int8_t* w, std::size_t k, std::size_t n);
PeerIntProduct onednn_int8_product(const std::int8_t* w, std::size_t k, std::size_t n);

/// Makes such sums, [rows, n], floats: each times its row's and its column's scale, plus a bias.
void eigen_dequantize(const std::int32_t* sums, std::size_t rows, std::size_t n,
                      const float* row_scales, const float* column_scales, const float* bias,
                      float* y);

}  // namespace fuselage
