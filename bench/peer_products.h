#pragma once

#include <cstddef>
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

}  // namespace fuselage
