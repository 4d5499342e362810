#pragma once

#include <string>
#include <string_view>

#include "fuselage/base/tensor.h"

namespace fuselage {

/// The content of an .npz model file.
struct NpzFile {
  /// Arrays by member name without ".npy", in the shape that the file states. Members named
  /// "special:…" and arrays of text or Python objects are skipped.
  TensorMap tensors;
  /// Text of the member special:model.yml up to its first NUL; empty if there is no such member.
  std::string config_yaml;
};

/// Reads stored and deflated members of little-endian numbers, in C or Fortran order. Throws Error
/// with the path, and with the member at fault, when the file cannot be read, is truncated or
/// damaged (checksums are verified), has two members of one name, or holds a type that Tensor does
/// not support. The file may be compressed (.gz, .zst).
NpzFile read_npz(const std::string& path);

/// The same for an archive in memory; `name_for_errors` is used in place of its path.
NpzFile read_npz(std::string_view bytes, const std::string& name_for_errors);

/// Reads an .npy file: one array, of the same types. Throws Error as read_npz does.
Tensor read_npy(const std::string& path);

/// The same for a file in memory; `name_for_errors` is used in place of its path.
Tensor read_npy(std::string_view bytes, const std::string& name_for_errors);

}  // namespace fuselage
