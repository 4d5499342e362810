#pragma once

#include <cstddef>
#include <functional>

namespace fuselage {

/// Writes the float32 product of some rows x and a matrix to y, both without gaps.
using PeerProduct = std::function<void(const float* x, float* y)>;

// Products of `rows` rows by w, [k, n], on one thread, by libraries of which a build may lack some.
// They keep w, which must stay.
PeerProduct eigen_product(const float* w, std::size_t k, std::size_t n, std::size_t rows);
PeerProduct openblas_product(const float* w, std::size_t k, std::size_t n, std::size_t rows);
PeerProduct onednn_product(const float* w, std::size_t k, std::size_t n, std::size_t rows);

}  // namespace fuselage
