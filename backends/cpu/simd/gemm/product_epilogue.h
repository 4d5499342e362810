#pragma once

namespace fuselage::cpu {

/// Operations on products before they are stored, bitwise equal to the kernels binary and unary:
/// `bias`, an element per column of the matrix, is added unless it is null; then negative numbers
/// become 0 with `relu`.
struct ProductEpilogue {
  const float* bias = nullptr;
  bool relu = false;
};

}  // namespace fuselage::cpu
