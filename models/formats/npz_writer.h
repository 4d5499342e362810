#pragma once

#include <string>

#include "fuselage/base/tensor.h"

namespace fuselage {

/// Writes an array as an .npy file of version 1.0, atomically. Throws Error with the path when it
/// cannot be written, and for a type that numpy does not have (bf16).
void write_npy(const std::string& path, const Tensor& tensor);

/// Writes arrays as an .npz archive of members NAME.npy, not compressed, atomically. The same
/// arrays give the same bytes.
void write_npz(const std::string& path, const TensorMap& tensors);

}  // namespace fuselage
