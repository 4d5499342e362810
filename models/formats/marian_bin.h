#pragma once

#include <string>
#include <string_view>

#include "fuselage/base/tensor.h"

namespace fuselage {

/// The content of a Marian .bin model file.
struct MarianBinFile {
  /// Items by name, except items named "special:…", in the shape that the file states. A quantized
  /// matrix is transposed: [K, N] in the file is [N, K] here, a quantized vector per column. A
  /// quantized table of embeddings has a vector per row and keeps its shape.
  TensorMap tensors;
  /// Text of the item special:model.yml up to its first NUL; empty if there is no such item.
  std::string config_yaml;
};

/// Reads items of floats, integers, and integers quantized for intgemm, whether packed for a
/// processor or not. Throws Error with the path, and with the item at fault, when the file cannot
/// be read, is truncated, damaged or encrypted, has two items of one name, or holds a type that
/// Tensor does not support. The file may be compressed (.gz, .zst). Of a file that is not,
/// quantized tensors are made at their first use (DeferredTensor) and keep it mapped until then.
MarianBinFile read_marian_bin(const std::string& path);

/// The same for a file in memory; `name_for_errors` is used in place of its path.
MarianBinFile read_marian_bin(std::string_view bytes, const std::string& name_for_errors);

}  // namespace fuselage
